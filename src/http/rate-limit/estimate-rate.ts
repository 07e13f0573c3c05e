import {
  type BurstProfile,
  burstProfile,
  burstUsed,
  countGrants,
  type SampleWindow,
} from './sample-window.ts'

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
