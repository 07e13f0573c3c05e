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
  /** Send time of the first throttled request. */
  firstThrottledAt: number | undefined
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
/** Fewer requests do not determine a rate. */
const MIN_REFILL_REQUESTS = 6

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
    firstThrottledAt: undefined,
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
  window.firstThrottledAt = Math.min(window.firstThrottledAt ?? request.at, request.at)
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
 * The rate of the grants among the requests sent after the first throttled one. The bucket was empty then, so they
 * were paid from the refill alone, whatever the burst capacity. Undefined if too few were sent.
 */
export function refillRate({ sentAt, stride, throttled, unusedAt, firstThrottledAt }: SampleWindow) {
  if (firstThrottledAt === undefined) return undefined
  const isAfter = (at: number) => at >= firstThrottledAt
  const unused = unusedAt.filter(isAfter)
  const sent = sentAt.filter(isAfter).length * stride - unused.length
  const lastAt = sentAt.findLast((at) => !unused.includes(at)) ?? firstThrottledAt
  const lengthMs = lastAt - firstThrottledAt
  return sent < MIN_REFILL_REQUESTS || lengthMs <= 0 ? undefined : Math.max(1, sent - throttled) / lengthMs
}

/** The part of a finished window that determines the burst it used. */
export type BurstProfile = {
  grants: number
  end: number
  /**
   * Send times up to `end`, and the number of requests sent before each: only the points of the lower convex hull,
   * because `burstUsed` has its maximum at one of them, whatever the rate.
   */
  sentAt: number[]
  sentBefore: number[]
}

export function burstProfile(window: SampleWindow): BurstProfile {
  const { end, stride } = window
  const profile: BurstProfile = { grants: countGrants(window), end, sentAt: [], sentBefore: [] }
  for (const [index, at] of window.sentAt.entries()) if (at <= end) addToHull(profile, at, index * stride)
  return profile
}

function addToHull({ sentAt, sentBefore }: BurstProfile, at: number, before: number): void {
  while (sentAt.length > 1 && isAboveHull({ sentAt, sentBefore }, at, before)) {
    sentAt.pop()
    sentBefore.pop()
  }
  sentAt.push(at)
  sentBefore.push(before)
}

/** Whether the last point is on or above the line from the one before it to a new point. */
function isAboveHull(
  { sentAt, sentBefore }: Pick<BurstProfile, 'sentAt' | 'sentBefore'>,
  at: number,
  before: number,
): boolean {
  const [startAt = 0, lastAt = 0] = sentAt.slice(-2)
  const [startBefore = 0, lastBefore = 0] = sentBefore.slice(-2)
  return (lastAt - startAt) * (before - startBefore) <= (lastBefore - startBefore) * (at - startAt)
}

/**
 * The burst that a token bucket with refill rate `perMs` (requests per ms) must have held to grant a
 * window: the maximum, over all start times t in the window, of grants in [t, end] − perMs × (end − t).
 */
export function burstUsed({ grants, end, sentAt, sentBefore }: BurstProfile, perMs: number): number {
  return sentAt.reduce(
    (max, at, index) => Math.max(max, grants - (sentBefore[index] ?? 0) - perMs * (end - at)),
    0,
  )
}
