/**
 * A request that was sent: its sequence number, counted from 1 over the limiter's lifetime, and the time it
 * was sent (ms).
 */
export type SentRequest = { sequence: number; at: number }

/**
 * Sample window: the requests sent between two pauses. The rate estimate is computed from it. All times are
 * in milliseconds.
 */
export type SampleWindow = {
  /** Sequence number of the window's first request. */
  firstSequence: number
  since: number
  /** Idle time before the window, during which the quota may have been replenished. */
  idleMs: number
  /** Send times of every `stride`-th request. Sampling bounds the memory of a long window. */
  sentAt: number[]
  stride: number
  sent: number
  throttled: number
  /**
   * Send time of the last throttled request: at that time the quota was used up. Equals `since` until the
   * first 429.
   */
  end: number
}

/**
 * Maximum number of send times per window. When a window reaches it, every second sample is dropped and the
 * stride doubles.
 */
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

/**
 * Requests granted up to `end`, at least 1. Requests sent after `end` are excluded, because burst and rate
 * are measured over `[since, end]`.
 */
export function countGrants({ sentAt, stride, sent, throttled, end }: SampleWindow): number {
  const sentAfterEnd = sentAt.filter((at) => at > end).length * stride
  return Math.max(1, sent - sentAfterEnd - throttled)
}

/**
 * The burst that a token bucket with refill rate `perMs` (requests per ms) must have held to grant this
 * window: the maximum, over all start times t in the window, of grants in [t, end] − perMs × (end − t).
 */
export function burstUsed(window: SampleWindow, perMs: number): number {
  const { sentAt, stride, end } = window
  const grants = countGrants(window)
  return sentAt.reduce((max, at, index) => {
    return at > end ? max : Math.max(max, grants - index * stride - perMs * (end - at))
  }, 0)
}
