/** What happened to a request, for progress and the run's report. */
export type RequestEvent =
  | { kind: 'sent' }
  | { kind: 'answered'; bytes: number }
  | ({ kind: 'refused'; waitMs: number } & AskedWait)
  /** A good response that spent the quota. */
  | ({ kind: 'held' } & AskedWait)
  | ({ kind: 'retried'; reason: string; failures: number } & AskedWait)

/** How long the service asks to wait, in milliseconds; undefined where it does not say. */
type AskedWait = { askedMs?: number | undefined }

/** How long the service asks to wait with this event; undefined where it does not. */
export function askedWait(event: RequestEvent): number | undefined {
  return 'askedMs' in event ? event.askedMs : undefined
}

/** What a refusal or a retry is in words, for the log; undefined for what goes well. */
export function describeRequest(event: RequestEvent): string | undefined {
  if (event.kind === 'refused') return `429, everything waits ${Math.ceil(event.waitMs)} ms`
  return event.kind === 'retried' ? `asking again: ${event.reason}` : undefined
}
