/** A request that left: the `nth` of all. */
export type SentRequest = { sequence: number; at: number }

/** The time from one pause to the next: when its requests left, and where it ended. All times in milliseconds. */
export type SampleWindow = {
  /** Number of its first request. */
  firstSequence: number
  since: number
  /** How long nothing had left before it: the quota may have recovered meanwhile. */
  idleMs: number
  /** When requests left: every `stride`th of them, so that a long stretch takes no more room than a short one. */
  sentAt: number[]
  stride: number
  sent: number
  throttled: number
  /** When the last request that was refused had left: the quota was used up then. */
  end: number
}

/** So many departures are kept at most; of a longer stretch every second, fourth… one. */
const MAX_SAMPLES = 1_024

export function newSampleWindow({
  firstSequence,
  since,
  idleMs,
}: Pick<SampleWindow, 'firstSequence' | 'since' | 'idleMs'>): SampleWindow {
  return { firstSequence, since, idleMs, sentAt: [], stride: 1, sent: 0, throttled: 0, end: since }
}

export function countSent(window: SampleWindow, now: number): void {
  if (window.sent % window.stride === 0) window.sentAt.push(now)
  window.sent += 1
  if (window.sentAt.length < MAX_SAMPLES) return
  window.sentAt = window.sentAt.filter((_, index) => index % 2 === 0)
  window.stride *= 2
}

export function countThrottled(window: SampleWindow, { sequence, at }: SentRequest): void {
  if (sequence < window.firstSequence || sequence >= window.firstSequence + window.sent) return
  window.throttled += 1
  window.end = Math.max(window.end, at)
}

/** Requests granted up to the end; what left later and was granted is of no use to a sum that ends there. */
export function countGrants({ sentAt, stride, sent, throttled, end }: SampleWindow): number {
  const sentAfterEnd = sentAt.filter((at) => at > end).length * stride
  return Math.max(1, sent - sentAfterEnd - throttled)
}

/**
 * How much the service must have had in store if it gives back `perMs` requests a millisecond: the most that was
 * granted beyond that in any time up to the end.
 */
export function burstUsed(window: SampleWindow, perMs: number): number {
  const { sentAt, stride, end } = window
  const grants = countGrants(window)
  return sentAt.reduce((max, at, index) => {
    return at > end ? max : Math.max(max, grants - index * stride - perMs * (end - at))
  }, 0)
}
