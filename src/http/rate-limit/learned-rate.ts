/** A rate that was learnt, and how it rises until the next refusal. Milliseconds, and requests a millisecond. */
export type LearnedRate = {
  basePerMs: number
  /** The rate is twice its base after so long. */
  doublingMs: number
  /** How long the rate has been what held requests back: it rises with this, not with time. */
  limitedMs: number
  /** When the next request may leave. */
  nextPermitAt: number
  /** The best rate that was possible lately. */
  bestPerMs: number
}

/** Slots missed in so long are made up for: late timers cost no quota. A longer lull is lost, so no herd leaves. */
const CATCH_UP_MS = 100

/**
 * A refusal leaves at least so much of the rate where the stretch was about as long as the pause: what it was granted
 * could mean a rate or a store. A long stretch speaks for itself, and after a long pause caution is due.
 */
const MIN_RETAINED_SHARE = 0.75
/** The rate doubles in so many times the last stretch: a rate that held for long is probed gently… */
const PROBE_WINDOWS = 12
/** …but in no less than this, nor in fewer requests… */
const MIN_PROBE_MS = 7_000
const MIN_PROBE_REQUESTS = 40
/** …and in no more pauses (each probe costs one) or requests (it costs a refusal), whichever takes longer. */
const MAX_PROBE_PAUSES = 100
const MAX_PROBE_REQUESTS = 1_000
/** A rate that was possible lately is tried again sooner. With each refusal so much of the memory stays. */
const BEST_RATE_DECAY = 0.95

export type RateObservation = {
  now: number
  /** The quota's rate, as it was seen. */
  perMs: number
  /** How long the stretch before the refusal was, and the pause after it. */
  lengthMs: number
  pausedMs: number
}

/** What to do after a refusal of `plan` (none: the first). */
export function learnRate(
  learnedRate: LearnedRate | undefined,
  { now, perMs, lengthMs, pausedMs }: RateObservation,
): LearnedRate {
  const initial = { limitedMs: 0, nextPermitAt: now }
  // The very first rate is half guessed: it is probed the sooner the less was seen, and is no memory of what was possible.
  const firstDoublingMs = Math.min(MIN_PROBE_MS, PROBE_WINDOWS * lengthMs)
  if (learnedRate === undefined)
    return { ...initial, basePerMs: perMs, bestPerMs: 0, doublingMs: firstDoublingMs }
  const weight = Math.min(1, lengthMs / pausedMs, (2 * pausedMs) / lengthMs)
  const basePerMs = Math.max(perMs, MIN_RETAINED_SHARE * currentRate(learnedRate) * weight)
  const bestPerMs = Math.max(perMs, learnedRate.bestPerMs * BEST_RATE_DECAY)
  const speedUp = Math.min(1, basePerMs / bestPerMs) ** 3
  const maxDoublingMs = Math.max(MAX_PROBE_PAUSES * pausedMs, MAX_PROBE_REQUESTS / basePerMs) * speedUp
  const doublingMs = Math.max(minDoublingMs(basePerMs), Math.min(PROBE_WINDOWS * lengthMs, maxDoublingMs))
  return { ...initial, basePerMs, bestPerMs, doublingMs }
}

function minDoublingMs(perMs: number): number {
  return Math.max(MIN_PROBE_MS, MIN_PROBE_REQUESTS / perMs)
}

/** Flat at first and then ever steeper: most of the time passes near the rate that was learnt. */
export function currentRate({ basePerMs, limitedMs, doublingMs }: LearnedRate): number {
  return basePerMs * (1 + (limitedMs / doublingMs) ** 3)
}

/** Takes the slot that is due: a generic cell rate algorithm. */
export function reservePermit(learnedRate: LearnedRate, now: number): void {
  const interval = 1 / currentRate(learnedRate)
  if (now - learnedRate.nextPermitAt <= CATCH_UP_MS) learnedRate.limitedMs += interval
  learnedRate.nextPermitAt = Math.max(now - CATCH_UP_MS, learnedRate.nextPermitAt) + interval
}
