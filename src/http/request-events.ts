/** What happened to a request, for progress and the run's report. */
export type RequestEvent =
  | { kind: 'sent' }
  | { kind: 'received'; bytes: number }
  | ({ kind: 'throttled'; waitMs: number } & RequestedWait)
  /** A good response that spent the quota. */
  | ({ kind: 'paused' } & RequestedWait)
  | ({ kind: 'retried'; reason: string; failures: number } & RequestedWait)

/** How long the service asks to wait, in milliseconds; undefined where it does not say. */
type RequestedWait = { requestedWaitMs?: number | undefined }

/** How long the service asks to wait with this event; undefined where it does not. */
export function requestedWait(event: RequestEvent): number | undefined {
  return 'requestedWaitMs' in event ? event.requestedWaitMs : undefined
}

/** What a refusal or a retry is in words, for the log; undefined for what goes well. */
export function describeRequest(event: RequestEvent): string | undefined {
  if (event.kind === 'throttled') return `429, everything waits ${Math.ceil(event.waitMs)} ms`
  return event.kind === 'retried' ? `asking again: ${event.reason}` : undefined
}
