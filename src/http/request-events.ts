import type { ClientRequest } from './http-client.ts'

/** An event of a request, for the progress display and the run report. */
export type RequestEvent =
  | ({ kind: 'sent' } & RequestLine)
  | { kind: 'received'; bytes: number }
  | ({ kind: 'throttled'; waitMs: number } & RequestedWait)
  /** A successful response that used up the quota. */
  | ({ kind: 'paused' } & RequestedWait)
  | ({ kind: 'retried'; reason: string; failures: number } & RequestedWait)

/** A request that is about to be sent; the path without the query. */
export type RequestLine = { method: ClientRequest['method']; path: string }

/** The delay that the service requests, in milliseconds; undefined if it states none. */
type RequestedWait = { requestedWaitMs?: number | undefined }

/** The delay that the service requests with this event, in milliseconds; undefined if there is none. */
export function requestedWait(event: RequestEvent): number | undefined {
  return 'requestedWaitMs' in event ? event.requestedWaitMs : undefined
}

/** Describes a 429 or a retry for the log; undefined for other events. */
export function describeRequest(event: RequestEvent): string | undefined {
  if (event.kind === 'throttled') return `429, all requests pause for ${Math.ceil(event.waitMs)} ms`
  return event.kind === 'retried' ? `retrying: ${event.reason}` : undefined
}
