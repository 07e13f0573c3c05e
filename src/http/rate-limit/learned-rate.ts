/** A rate that was learnt, and how it rises until the next refusal. Milliseconds, and requests a millisecond. */
export type Plan = {
  base: number
  /** The rate is twice its base after so long. */
  doublingMs: number
  /** How long the rate has been what held requests back: it rises with this, not with time. */
  risenMs: number
  /** When the next request may leave. */
  nextSlot: number
  /** The best rate that was possible lately. */
  best: number
}

/** Slots missed in so long are made up for: late timers cost no quota. A longer lull is lost, so no herd leaves. */
const CATCH_UP_MS = 100

/**
 * A refusal leaves at least so much of the rate where the stretch was about as long as the pause: what it was granted
 * could mean a rate or a store. A long stretch speaks for itself, and after a long pause caution is due.
 */
const LARGEST_FALL = 0.75
/** The rate doubles in so many times the last stretch: a rate that held for long is probed gently… */
const PROBE_STRETCHES = 12
/** …but in no less than this, nor in fewer requests… */
const PROBE_LEAST_MS = 7_000
const PROBE_LEAST_REQUESTS = 40
/** …and in no more pauses (each probe costs one) or requests (it costs a refusal), whichever takes longer. */
const PROBE_MOST_PAUSES = 100
const PROBE_MOST_REQUESTS = 1_000
/** A rate that was possible lately is tried again sooner. With each refusal so much of the memory stays. */
const MEMORY = 0.95

export type Lesson = {
  now: number
  /** The quota's rate, as it was seen. */
  perMs: number
  /** How long the stretch before the refusal was, and the pause after it. */
  lengthMs: number
  pausedMs: number
}

/** What to do after a refusal of `plan` (none: the first). */
export function planAfter(plan: Plan | undefined, { now, perMs, lengthMs, pausedMs }: Lesson): Plan {
  const begun = { risenMs: 0, nextSlot: now }
  // The very first rate is half guessed: it is probed the sooner the less was seen, and is no memory of what was possible.
  const soon = Math.min(PROBE_LEAST_MS, PROBE_STRETCHES * lengthMs)
  if (plan === undefined) return { ...begun, base: perMs, best: 0, doublingMs: soon }
  const weight = Math.min(1, lengthMs / pausedMs, (2 * pausedMs) / lengthMs)
  const base = Math.max(perMs, LARGEST_FALL * rateOf(plan) * weight)
  const best = Math.max(perMs, plan.best * MEMORY)
  const sooner = Math.min(1, base / best) ** 3
  const most = Math.max(PROBE_MOST_PAUSES * pausedMs, PROBE_MOST_REQUESTS / base) * sooner
  const doublingMs = Math.max(leastDoubling(base), Math.min(PROBE_STRETCHES * lengthMs, most))
  return { ...begun, base, best, doublingMs }
}

function leastDoubling(perMs: number): number {
  return Math.max(PROBE_LEAST_MS, PROBE_LEAST_REQUESTS / perMs)
}

/** Flat at first and then ever steeper: most of the time passes near the rate that was learnt. */
export function rateOf({ base, risenMs, doublingMs }: Plan): number {
  return base * (1 + (risenMs / doublingMs) ** 3)
}

/** Takes the slot that is due: a generic cell rate algorithm. */
export function takeSlot(plan: Plan, now: number): void {
  const interval = 1 / rateOf(plan)
  if (now - plan.nextSlot <= CATCH_UP_MS) plan.risenMs += interval
  plan.nextSlot = Math.max(now - CATCH_UP_MS, plan.nextSlot) + interval
}
