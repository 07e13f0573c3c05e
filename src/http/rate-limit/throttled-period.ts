import { delayBeforeRetry, RETRY_POLICIES } from '../../core/platform/retry.ts'
import { estimateRate } from './estimate-rate.ts'
import { currentRate, type LearnedRate, learnRate, type RateTuning } from './learned-rate.ts'
import {
  type BurstProfile,
  countGrants,
  newSampleWindow,
  refillRate,
  type SampleWindow,
  type SentRequest,
} from './sample-window.ts'

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
