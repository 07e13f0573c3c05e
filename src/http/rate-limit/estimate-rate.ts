export type RateEvidence = {
  /** The sample window that the 429 has just ended. */
  window: SampleWindow
  /** Earlier windows that started with the burst capacity refilled. */
  previous: readonly BurstProfile[]
  /**
   * The limiter's rate when it was throttled, in requests per ms: an upper bound of the quota's rate.
   * Undefined for the first 429.
   */
  peakPerMs: number | undefined
  /** Time from the end of the window to the next request, in ms. */
  pausedMs: number
  /**
   * Round-trip time of the throttled request (ms). A window is treated as at least this long: a shorter one
   * does not determine a rate.
   */
  roundTripMs: number
  /** The rate that the window shows whatever the burst (see `refillRate`), for the first 429. */
  refillPerMs?: number | undefined
  /** See `RateTuning`. */
  burstTolerance: number
}

/** In requests per ms. If `perMs` exceeds `minPerMs`, the window started with the burst capacity refilled. */
export type RateEstimate = { perMs: number; minPerMs: number }

/** The search raises the rate by 0.2 % per step. */
const RATE_STEP = 1.002
/** Share of an estimate that is used: slightly less avoids many 429s, each of which costs a pause. */
const SAFETY_SHARE = 0.995
/** Share of the refill rate that is used: it is computed from few requests. */
const REFILL_SHARE = 0.95

/**
 * Estimates the rate of a quota from the sample window that a 429 ended.
 *
 * The model is a token bucket: the service holds up to a burst capacity of tokens and refills them at the quota's
 * rate. A fixed window behaves similarly. A window's grants were paid from the tokens at its start and from
 * the refill during the window. Therefore grants / (window + pause) is a lower bound of the rate, where pause
 * is the shorter of the pauses before and after the window.
 *
 * The rate is higher than this bound if the bucket overflowed before the window started. The estimate is then
 * the lowest rate at which this window needs no larger burst than each earlier window that started full, and
 * at most `peakPerMs`.
 *
 * The first 429 has no earlier window and is consistent with any burst capacity. Its estimate is 95 % of
 * `refillPerMs` if it is known, otherwise the geometric mean of the lower bound and the upper bound
 * grants / window (no burst at all).
 *
 * @returns `perMs`, the estimate, and `minPerMs`, the lower bound plus one search step (0 for the first 429).
 */
export function estimateRate({
  window,
  previous,
  peakPerMs,
  pausedMs,
  roundTripMs,
  refillPerMs,
  burstTolerance,
}: RateEvidence): RateEstimate {
  const lengthMs = Math.max(window.end - window.since, roundTripMs)
  const grants = countGrants(window)
  const minPerMs = grants / (lengthMs + Math.min(window.idleMs ?? pausedMs, pausedMs))
  if (peakPerMs === undefined)
    return { perMs: firstRate({ minPerMs, maxPerMs: grants / lengthMs, refillPerMs }), minPerMs: 0 }
  const profile = burstProfile(window)
  let perMs = minPerMs
  while (perMs < peakPerMs && burstUsed(profile, perMs) > smallestBurst(previous, perMs) + burstTolerance)
    perMs *= RATE_STEP
  return { perMs: SAFETY_SHARE * perMs, minPerMs: minPerMs * RATE_STEP }
}

type FirstRateBounds = { minPerMs: number; maxPerMs: number; refillPerMs: number | undefined }

function firstRate({ minPerMs, maxPerMs, refillPerMs }: FirstRateBounds): number {
  if (refillPerMs === undefined) return Math.sqrt(minPerMs * maxPerMs)
  return Math.max(minPerMs, REFILL_SHARE * refillPerMs)
}

function smallestBurst(previous: readonly BurstProfile[], perMs: number): number {
  return Math.min(...previous.map((profile) => burstUsed(profile, perMs)))
}

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
