import { delayBeforeRetry, RETRY_POLICIES } from '../../core/platform/retry.ts'
import {
  type BurstProfile,
  countGrants,
  estimateRate,
  newSampleWindow,
  refillRate,
  type SampleWindow,
  type SentRequest,
} from './estimate-rate.ts'

/**
 * The request rate learned from 429s, and how it rises until the next one. Times are in milliseconds, rates
 * in requests per millisecond.
 */
export type LearnedRate = {
  basePerMs: number
  /** `limitedMs` at which the rate reaches twice `basePerMs`. Undefined if the rate does not rise. */
  doublingMs: number | undefined
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
  /**
   * `ramp-up`: the initial rate of an unknown quota, before the first 429. `measured`: the first estimate, if it was
   * measured while the bucket was empty. @default a later estimate, or a less reliable one
   */
  stage?: 'ramp-up' | 'measured' | undefined
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
/**
 * A window with more grants than this multiple of the first one was not paid from a burst. The floor shrinks
 * for such a window too, because its estimate is reliable.
 */
const MAX_BURST_RATIO = 4
/** Parameters that differ between the limiter of one process and that of several. */
export type RateTuning = {
  /** What rises until the first 429: the number of requests in flight, or the rate. */
  rampUp: 'requests in flight' | 'rate'
  /** Doubling time as a multiple of the last window: a rate that held for long is probed gently. */
  probeWindows: number
  /** The same after the first 429, whose window may contain little more than the burst. */
  firstProbeWindows: number
  /** Bursts that differ by no more than this count as equal (requests). */
  burstTolerance: number
  /** Exponent of (rate / best rate) in the upper bound: how soon a quota that grows again is noticed. */
  belowBestPower: number
}

/** Grants are whole numbers, so the bursts of two windows may differ by half a request. */
export const LOCAL_TUNING: RateTuning = {
  rampUp: 'requests in flight',
  probeWindows: 12,
  firstProbeWindows: 12,
  burstTolerance: 0.5,
  belowBestPower: 8,
}
/**
 * Processes that share a quota probe more gently, because a 429 does not stop permits that were already issued
 * ahead of time. The values are fitted to the simulation of test/cluster/rate-limit/shared-laws.test.ts.
 */
export const SHARED_TUNING: RateTuning = {
  rampUp: 'rate',
  probeWindows: 40,
  firstProbeWindows: 40,
  burstTolerance: 0.1,
  belowBestPower: 16,
}
/** Lower bounds of the doubling time: milliseconds, and number of requests at the base rate. */
const MIN_PROBE_MS = 7_000
const MIN_PROBE_REQUESTS = 40
/**
 * Upper bounds of the doubling time, of which the longer applies: number of pauses (a probe costs one pause),
 * and number of requests at the base rate (a probe costs one 429).
 */
const MAX_PROBE_PAUSES = 400
const MAX_PROBE_REQUESTS = 1_000
/** Share of `bestPerMs` that remains after each 429. A rate below the recent best is probed sooner. */
const BEST_RATE_DECAY = 0.97
/** Lower bound of the rate: one request per hour. For a smaller quota, Retry-After is the limit. */
const MIN_PER_MS = 1 / 3_600_000

/** Initial rate of an unknown quota, if the rate ramps up, and the time within which it doubles. */
const RAMP_UP_PER_MS = 0.02
const RAMP_UP_DOUBLING_MS = 400
/**
 * Share of a known rate that 429s do not reduce further. A service that throttles every request for a while (its
 * daily quota is used up) indicates no lower rate for the time after it.
 */
const MIN_KNOWN_SHARE = 0.05

/**
 * The rate before the first 429. A known rate does not rise. That of an unknown quota is undefined if the number of
 * requests in flight ramps up instead.
 */
export function initialRate(
  now: number,
  knownPerMs: number | undefined,
  { rampUp }: RateTuning,
): LearnedRate | undefined {
  const initial = { limitedMs: 0, nextPermitAt: now, bestPerMs: 0 }
  if (knownPerMs !== undefined)
    return { ...initial, basePerMs: knownPerMs, maxPerMs: knownPerMs, doublingMs: undefined }
  if (rampUp === 'requests in flight') return undefined
  return { ...initial, basePerMs: RAMP_UP_PER_MS, doublingMs: RAMP_UP_DOUBLING_MS, stage: 'ramp-up' }
}

export type RateObservation = Omit<RateTuning, 'rampUp' | 'burstTolerance'> & {
  now: number
  /** Estimated rate of the quota, in requests per ms. */
  perMs: number
  /** Length of the sample window before the 429, and of the pause after it. */
  lengthMs: number
  pausedMs: number
  /** Whether the estimate is a measured refill rate. */
  isMeasured: boolean
  /** Grants of that window, and of the first window of all, which used the full burst capacity. */
  windowGrants: number
  burstGrants: number
}

/**
 * Computes the rate after a 429:
 *
 *     weight        = min(1, window / pause, 2 × pause / window) × min(1, 4 × grants of the first window / grants)
 *     base rate     = max(estimate, 0.75 × current rate × weight, one request per hour, 5 % of a known rate)
 *     upper bound   = max(400 × pause, 1,000 requests) × min(1, base rate / best rate)^belowBestPower
 *     doubling time = max(7 s, 40 requests, min(probeWindows × window, upper bound))
 *
 * The weight is 1 for a rate whose `stage` is `measured`.
 *
 * @param learnedRate the rate that was throttled; undefined for the first 429
 */
export function learnRate(
  learnedRate: LearnedRate | undefined,
  {
    now,
    perMs,
    lengthMs,
    pausedMs,
    isMeasured,
    windowGrants,
    burstGrants,
    probeWindows,
    firstProbeWindows,
    belowBestPower,
  }: RateObservation,
): LearnedRate {
  const initial = { limitedMs: 0, nextPermitAt: now }
  // The first estimate is uncertain. It is probed sooner the shorter its window was, and it does not count as
  // a best rate.
  const firstDoublingMs = Math.min(MIN_PROBE_MS, firstProbeWindows * lengthMs)
  if (learnedRate === undefined)
    return {
      ...initial,
      basePerMs: Math.max(perMs, MIN_PER_MS),
      bestPerMs: 0,
      doublingMs: firstDoublingMs,
      stage: isMeasured ? 'measured' : undefined,
    }
  const weight =
    learnedRate.stage === 'measured'
      ? 1
      : Math.min(1, lengthMs / pausedMs, (2 * pausedMs) / lengthMs) *
        Math.min(1, (MAX_BURST_RATIO * burstGrants) / windowGrants)
  const minPerMs = Math.max(MIN_PER_MS, MIN_KNOWN_SHARE * (learnedRate.maxPerMs ?? 0))
  const basePerMs = Math.max(perMs, MIN_RETAINED_SHARE * currentRate(learnedRate) * weight, minPerMs)
  const bestPerMs = Math.max(perMs, learnedRate.bestPerMs * BEST_RATE_DECAY)
  const speedUp = Math.min(1, basePerMs / bestPerMs) ** belowBestPower
  const maxDoublingMs = Math.max(MAX_PROBE_PAUSES * pausedMs, MAX_PROBE_REQUESTS / basePerMs) * speedUp
  const doublingMs = Math.max(minDoublingMs(basePerMs), Math.min(probeWindows * lengthMs, maxDoublingMs))
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
  const perMs = basePerMs * (doublingMs === undefined ? 1 : 1 + (limitedMs / doublingMs) ** 3)
  return maxPerMs === undefined ? perMs : Math.min(perMs, maxPerMs)
}

/**
 * Reserves the next permit, by the generic cell rate algorithm: `nextPermitAt` is its theoretical arrival
 * time.
 *
 * @param weight the cost of the request, as a multiple of that of the requests of a known rate. Ignored if the rate was
 *   learned: its unit is a request, whatever it costs
 */
export function reservePermit(learnedRate: LearnedRate, now: number, weight = 1): void {
  const interval = (learnedRate.maxPerMs === undefined ? 1 : weight) / currentRate(learnedRate)
  if (now - learnedRate.nextPermitAt <= CATCH_UP_MS) learnedRate.limitedMs += interval
  learnedRate.nextPermitAt = Math.max(now - CATCH_UP_MS, learnedRate.nextPermitAt) + interval
}

/** The time from a 429 to the next grant. */
export type ThrottledPeriod = {
  since: number
  /** Round-trip time of the first throttled request (ms). */
  roundTripMs: number
  /** The learned rate that was throttled; undefined for the first 429. */
  throttledRate: LearnedRate | undefined
  /** 429s in a row without a grant, counted once per burst. */
  consecutiveThrottles: number
  /** The delay is unknown or was too short: one probe is sent; the others follow once it is granted. */
  probing: boolean
  /** The window that starts after the pause; it becomes the current one with its first grant. */
  nextWindow: SampleWindow | undefined
  /** Whether the throttled window had started with the burst capacity refilled. */
  startsFull: boolean
}

/** The parts of the limiter's state from which a rate is learned. */
type RateHistory = {
  sent: number
  window: SampleWindow
  earlierWindows: readonly BurstProfile[]
  learnedRate: LearnedRate | undefined
}

type ThrottledState = { learnedRate: LearnedRate | undefined; throttledPeriod: ThrottledPeriod | undefined }

type ThrottleDetails = { now: number; request: SentRequest; explicitDelay: boolean }

export function startThrottledPeriod(
  { learnedRate, throttledPeriod }: ThrottledState,
  { now, request, explicitDelay }: ThrottleDetails,
): ThrottledPeriod {
  if (throttledPeriod !== undefined)
    return {
      ...throttledPeriod,
      since: now,
      consecutiveThrottles: throttledPeriod.consecutiveThrottles + 1,
      probing: true,
      nextWindow: undefined,
    }
  const roundTripMs = Math.max(1, now - request.at)
  return {
    since: now,
    roundTripMs,
    throttledRate: learnedRate && { ...learnedRate },
    consecutiveThrottles: 1,
    probing: !explicitDelay,
    nextWindow: undefined,
    startsFull: false,
  }
}

/** Backoff (ms) without a usable delay: exponential, with jitter between half and the full delay. */
export function backoffDelay({ consecutiveThrottles }: ThrottledPeriod, random: () => number): number {
  const failures = { failures: consecutiveThrottles, retryAfterMs: undefined }
  return delayBeforeRetry(failures, RETRY_POLICIES.request, () => 0.5 + random() / 2)
}

/** Starts a new sample window after a pause, at the rate estimated from all retained windows. */
export function resumeAfterPause(
  state: RateHistory,
  throttledPeriod: ThrottledPeriod,
  { now, rampUp: _rampUp, burstTolerance, ...tuning }: RateTuning & { now: number },
): void {
  const { window, earlierWindows: previous } = state
  const { throttledRate, roundTripMs } = throttledPeriod
  const isRampUp = throttledRate?.stage === 'ramp-up'
  const learnedRate = isRampUp ? undefined : throttledRate
  // At least 1 ms, because a shared limiter issues permits ahead of time.
  const pausedMs = Math.max(1, now - window.end)
  const peakPerMs = learnedRate === undefined ? undefined : currentRate(learnedRate)
  const refillPerMs = isRampUp ? refillRate(window) : undefined
  const evidence = { window, previous, peakPerMs, pausedMs, roundTripMs, refillPerMs, burstTolerance }
  const { perMs, minPerMs } = estimateRate(evidence)
  state.learnedRate = learnRate(learnedRate, {
    now,
    perMs,
    lengthMs: Math.max(roundTripMs, window.end - window.since),
    pausedMs,
    isMeasured: refillPerMs !== undefined,
    windowGrants: countGrants(window),
    burstGrants: previous[0]?.grants ?? countGrants(window),
    ...tuning,
  })
  throttledPeriod.startsFull = state.learnedRate.basePerMs > minPerMs
  throttledPeriod.nextWindow = newSampleWindow({
    firstSequence: state.sent + 1,
    since: now,
    idleMs: pausedMs,
  })
}
