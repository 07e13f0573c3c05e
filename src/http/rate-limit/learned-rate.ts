/**
 * The request rate learned from 429s, and how it rises until the next one. Times are in milliseconds, rates
 * in requests per millisecond.
 */
export type LearnedRate = {
  basePerMs: number
  /** `limitedMs` at which the rate reaches twice `basePerMs`. */
  doublingMs: number
  /**
   * Time for which this rate, and not a lack of requests, has limited sending. The rate rises with it, not
   * with wall time.
   */
  limitedMs: number
  /** Earliest time of the next permit. */
  nextPermitAt: number
  /** Highest recent estimate; decays by `BEST_RATE_DECAY` with each 429. */
  bestPerMs: number
  /** The known rate of the quota, which is never exceeded. @default no bound */
  maxPerMs?: number | undefined
}

/**
 * Permits missed within the last 100 ms (late timers) may be made up for; older ones are dropped, so requests
 * do not burst after a lull. This is the tolerance τ of the generic cell rate algorithm.
 */
const CATCH_UP_MS = 100

/**
 * After a 429 the base rate is at least this share of the current rate, if the window lasted one to two times
 * as long as the pause: its grants may have come from the rate or from a burst. The floor shrinks for longer
 * windows, whose estimate is reliable, and for shorter ones, because a relatively long pause calls for
 * caution.
 */
const MIN_RETAINED_SHARE = 0.75
/** Doubling time as a multiple of the last window: a rate that held for long is probed gently. */
const PROBE_WINDOWS = 12
/** Lower bounds of the doubling time: milliseconds, and number of requests at the base rate. */
const MIN_PROBE_MS = 7_000
const MIN_PROBE_REQUESTS = 40
/**
 * Upper bounds of the doubling time, of which the longer applies: number of pauses (a probe costs one pause),
 * and number of requests at the base rate (a probe costs one 429).
 */
const MAX_PROBE_PAUSES = 100
const MAX_PROBE_REQUESTS = 1_000
/** Share of `bestPerMs` that remains after each 429. A rate below the recent best is probed sooner. */
const BEST_RATE_DECAY = 0.95

/** The rate of a quota that is known from the beginning. It does not rise. */
export function knownRate(perMs: number, now: number): LearnedRate {
  const doublingMs = Number.POSITIVE_INFINITY
  return { basePerMs: perMs, maxPerMs: perMs, doublingMs, limitedMs: 0, nextPermitAt: now, bestPerMs: 0 }
}

export type RateObservation = {
  now: number
  /** Estimated rate of the quota, in requests per ms. */
  perMs: number
  /** Length of the sample window before the 429, and of the pause after it. */
  lengthMs: number
  pausedMs: number
}

/**
 * Computes the rate after a 429:
 *
 *     weight        = min(1, window / pause, 2 × pause / window)
 *     base rate     = max(estimate, 0.75 × current rate × weight)
 *     upper bound   = max(100 × pause, 1,000 requests) × min(1, base rate / best rate)³
 *     doubling time = max(7 s, 40 requests, min(12 × window, upper bound))
 *
 * @param learnedRate the rate that was throttled; undefined for the first 429
 */
export function learnRate(
  learnedRate: LearnedRate | undefined,
  { now, perMs, lengthMs, pausedMs }: RateObservation,
): LearnedRate {
  const initial = { limitedMs: 0, nextPermitAt: now }
  // The first estimate is uncertain. It is probed sooner the shorter its window was, and it does not count as
  // a best rate.
  const firstDoublingMs = Math.min(MIN_PROBE_MS, PROBE_WINDOWS * lengthMs)
  if (learnedRate === undefined)
    return { ...initial, basePerMs: perMs, bestPerMs: 0, doublingMs: firstDoublingMs }
  const weight = Math.min(1, lengthMs / pausedMs, (2 * pausedMs) / lengthMs)
  const basePerMs = Math.max(perMs, MIN_RETAINED_SHARE * currentRate(learnedRate) * weight)
  const bestPerMs = Math.max(perMs, learnedRate.bestPerMs * BEST_RATE_DECAY)
  const speedUp = Math.min(1, basePerMs / bestPerMs) ** 3
  const maxDoublingMs = Math.max(MAX_PROBE_PAUSES * pausedMs, MAX_PROBE_REQUESTS / basePerMs) * speedUp
  const doublingMs = Math.max(minDoublingMs(basePerMs), Math.min(PROBE_WINDOWS * lengthMs, maxDoublingMs))
  return { ...initial, basePerMs, bestPerMs, doublingMs, maxPerMs: learnedRate.maxPerMs }
}

function minDoublingMs(perMs: number): number {
  return Math.max(MIN_PROBE_MS, MIN_PROBE_REQUESTS / perMs)
}

/**
 * base × (1 + (limited / doubling)³), in requests per ms. The cubic is flat at first, so that most of the
 * time is spent near the learned rate. A known rate bounds it.
 */
export function currentRate({ basePerMs, limitedMs, doublingMs, maxPerMs }: LearnedRate): number {
  const perMs = basePerMs * (1 + (limitedMs / doublingMs) ** 3)
  return maxPerMs === undefined ? perMs : Math.min(perMs, maxPerMs)
}

/**
 * Reserves the next permit, by the generic cell rate algorithm: `nextPermitAt` is its theoretical arrival
 * time.
 */
export function reservePermit(learnedRate: LearnedRate, now: number): void {
  const interval = 1 / currentRate(learnedRate)
  if (now - learnedRate.nextPermitAt <= CATCH_UP_MS) learnedRate.limitedMs += interval
  learnedRate.nextPermitAt = Math.max(now - CATCH_UP_MS, learnedRate.nextPermitAt) + interval
}
