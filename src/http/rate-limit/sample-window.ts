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
  /**
   * Idle time before the window, during which the quota may have been replenished. Undefined for the first
   * window, which starts with the full burst capacity.
   */
  idleMs: number | undefined
  /** Send times of every `stride`-th request. Sampling bounds the memory of a long window. */
  sentAt: number[]
  stride: number
  sent: number
  throttled: number
  /** Times of permits that were issued ahead of time, count as sent, and were not used. */
  unusedAt: number[]
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
export const MAX_SAMPLES = 512

export function newSampleWindow({
  firstSequence,
  since,
  idleMs,
}: Pick<SampleWindow, 'firstSequence' | 'since' | 'idleMs'>): SampleWindow {
  return {
    firstSequence,
    since,
    idleMs,
    sentAt: [],
    stride: 1,
    sent: 0,
    throttled: 0,
    unusedAt: [],
    end: since,
  }
}

export function countSent(window: SampleWindow, now: number): void {
  if (window.sent % window.stride === 0) window.sentAt.push(now)
  window.sent += 1
  if (window.sentAt.length < MAX_SAMPLES) return
  window.sentAt = window.sentAt.filter((_, index) => index % 2 === 0)
  window.stride *= 2
}

export function countUnused(window: SampleWindow, request: SentRequest): void {
  if (includes(window, request) && window.unusedAt.length < MAX_SAMPLES) window.unusedAt.push(request.at)
}

export function countThrottled(window: SampleWindow, request: SentRequest): void {
  if (!includes(window, request)) return
  window.throttled += 1
  window.end = Math.max(window.end, request.at)
}

function includes({ firstSequence, sent }: SampleWindow, { sequence }: SentRequest): boolean {
  return sequence >= firstSequence && sequence < firstSequence + sent
}

/**
 * Requests granted up to `end`, at least 1. Requests sent after `end` are excluded, because burst and rate
 * are measured over `[since, end]`.
 */
export function countGrants({ sentAt, stride, sent, throttled, unusedAt, end }: SampleWindow): number {
  const sentAfterEnd = sentAt.filter((at) => at > end).length * stride
  const unused = unusedAt.filter((at) => at <= end).length
  return Math.max(1, sent - sentAfterEnd - throttled - unused)
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
