import { delayBeforeRetry, RETRY_DEFAULTS } from '../retry.ts'
import { estimateRate } from './estimate-rate.ts'
import { type Plan, planAfter, rateOf, takeSlot } from './learned-rate.ts'
import { type Allowance, allowedAt, newAllowance, noteRemaining } from './remaining-quota.ts'
import { countDeparture, countRefusal, type Departure, newStretch, type Stretch } from './sample-window.ts'

/** What came of a request. `undefined` where the service says nothing. */
export type GateOutcome =
  /** An answer that spends quota: so many requests are left, and in `resetMs` the quota begins anew. */
  | { kind: 'granted'; remaining: number | undefined; resetMs: number | undefined }
  /** 429. */
  | { kind: 'refused'; retryAfterMs: number | undefined }
  /** A fault, or no answer at all: says nothing of the rate. */
  | { kind: 'failed'; retryAfterMs: number | undefined }

type Moment = { now: number; dice: () => number }

/** When requests may leave. Pure bookkeeping: the time is passed in. Milliseconds, and requests a millisecond. */
export type Pace = {
  pausedUntil: number
  inFlight: number
  left: number
  /** Grants since requests were last let loose without a plan. */
  opened: number
  stretch: Stretch
  /** The last stretches that began with a full store, and always the very first. */
  earlier: Stretch[]
  /** Undefined until the first refusal. */
  plan: Plan | undefined
  /** Undefined while requests are granted. */
  drought: Drought | undefined
  allowance: Allowance
}

/** The time from a refusal to the next grant. */
type Drought = {
  since: number
  /** How long the refusal took to come. */
  tripMs: number
  /** The plan that was refused: none for the first refusal. */
  plan: Plan | undefined
  /** Times in a row that requests were refused. */
  refusals: number
  /** Nobody knows how long to wait: one request goes ahead, and the others follow when it is granted. */
  alone: boolean
  /** Becomes the stretch with its first grant. */
  next: Stretch | undefined
  /** Whether the stretch began with a full store. */
  full: boolean
}

/** In flight at first: so many refusals at once do little harm. */
const FIRST_IN_FLIGHT = 8
/** Then as many as half of what was granted: 32 after six round trips, and few refusals where a small burst ends. */
const OPENING = 2
/** Requests in flight are waited for before one leaves after a refusal, so that all of a herd's answers are known. */
const LONGEST_SETTLE_MS = 1_000
/** Resets come in whole seconds: the last one may be over at once. */
const SHORTEST_RESET_MS = 1_000

export function newPace(now: number): Pace {
  return {
    pausedUntil: now,
    inFlight: 0,
    left: 0,
    opened: 0,
    stretch: newStretch({ first: 1, since: now, restedMs: Number.POSITIVE_INFINITY }),
    earlier: [],
    plan: undefined,
    drought: undefined,
    allowance: newAllowance(),
  }
}

/** When the next request may leave: perhaps long ago, and Infinity where an answer must come first. */
export function dueAt(pace: Pace): number {
  const { pausedUntil, inFlight, plan, drought, opened } = pace
  if (drought !== undefined && drought.next === undefined)
    return inFlight === 0 ? pausedUntil : Math.max(pausedUntil, drought.since + LONGEST_SETTLE_MS)
  const slot = Math.max(pausedUntil, plan?.nextSlot ?? pausedUntil)
  if (inFlight === 0) return slot
  if (drought?.alone) return Number.POSITIVE_INFINITY
  if (plan === undefined && inFlight >= Math.max(FIRST_IN_FLIGHT, opened / OPENING))
    return Number.POSITIVE_INFINITY
  return Math.max(slot, allowedAt(pace.allowance, pace.left + 1))
}

/** Lets a request leave. */
export function leave(pace: Pace, now: number): Departure {
  if (pace.drought !== undefined && pace.drought.next === undefined) resume(pace, pace.drought, now)
  countDeparture(pace.drought?.next ?? pace.stretch, now)
  if (pace.plan !== undefined) takeSlot(pace.plan, now)
  pace.inFlight += 1
  pace.left += 1
  return { nth: pace.left, at: now }
}

/** Begins anew after a pause, at the rate that all stretches together speak for. */
function resume(pace: Pace, drought: Drought, now: number): void {
  const { stretch, earlier } = pace
  const { plan, tripMs } = drought
  const pausedMs = now - stretch.end
  const peak = plan === undefined ? undefined : rateOf(plan)
  const { perMs, least } = estimateRate({ stretch, earlier, peak, pausedMs, tripMs })
  pace.plan = planAfter(plan, {
    now,
    perMs,
    lengthMs: Math.max(tripMs, stretch.end - stretch.since),
    pausedMs,
  })
  drought.full = pace.plan.base > least
  drought.next = newStretch({ first: pace.left + 1, since: now, restedMs: pausedMs })
}

/** Takes note of what came of a request. */
export function settle(pace: Pace, departure: Departure, outcome: GateOutcome & Moment): void {
  pace.inFlight -= 1
  if (outcome.kind === 'granted') noteGrant(pace, departure, outcome)
  else if (outcome.kind === 'refused') noteRefusal(pace, departure, outcome)
  else if (outcome.retryAfterMs !== undefined) {
    pause(pace, outcome.now + outcome.retryAfterMs)
    pace.opened = 0
  }
}

type Granted = Extract<GateOutcome, { kind: 'granted' }> & Moment

function noteGrant(pace: Pace, departure: Departure, { now, remaining, resetMs }: Granted): void {
  pace.opened += 1
  const { drought } = pace
  if (drought?.next !== undefined && departure.nth >= drought.next.first) {
    if (drought.full) remember(pace)
    pace.stretch = drought.next
    pace.drought = undefined
    if (pace.plan !== undefined) pace.plan.nextSlot = Math.max(pace.plan.nextSlot, now)
  }
  if (remaining === undefined) return
  noteRemaining(pace.allowance, { ...departure, remaining })
  if (resetMs === undefined || resetMs <= SHORTEST_RESET_MS) return
  if (allowedAt(pace.allowance, pace.left + 1) > now + resetMs) pause(pace, now + resetMs)
}

function remember({ earlier, stretch }: Pace): void {
  earlier.push(stretch)
  // The first, which began with a full store, and the newest two.
  if (earlier.length > 3) earlier.splice(1, 1)
}

type Refused = Extract<GateOutcome, { kind: 'refused' }> & Moment

function noteRefusal(pace: Pace, departure: Departure, { now, dice, retryAfterMs }: Refused): void {
  const { drought, stretch } = pace
  countRefusal(stretch, departure)
  const latest = drought === undefined ? stretch : drought.next
  // The others of a herd say nothing new: they left before the first of them was answered.
  const isNews = latest !== undefined && departure.nth >= latest.first
  if (isNews) pace.drought = droughtAfter(pace, { now, departure, told: retryAfterMs !== undefined })
  const ownMs = isNews && pace.drought?.alone ? ownDelay(pace.drought, dice) : 0
  pause(pace, now + Math.max(retryAfterMs ?? 0, ownMs))
}

type Refusing = { now: number; departure: Departure; told: boolean }

function droughtAfter({ plan, drought }: Pace, { now, departure, told }: Refusing): Drought {
  if (drought !== undefined)
    return { ...drought, since: now, refusals: drought.refusals + 1, alone: true, next: undefined }
  const tripMs = Math.max(1, now - departure.at)
  return { since: now, tripMs, plan, refusals: 1, alone: !told, next: undefined, full: false }
}

/** Milliseconds to wait where the service does not say, or where what it said was too little: longer each time. */
function ownDelay({ refusals }: Drought, dice: () => number): number {
  const failures = { failures: refusals, retryAfterMs: undefined }
  return delayBeforeRetry(failures, RETRY_DEFAULTS, () => 0.5 + dice() / 2)
}

/** Slots of the pause are lost: nobody may catch up with them after it. */
function pause(pace: Pace, until: number): void {
  pace.pausedUntil = Math.max(pace.pausedUntil, until)
  if (pace.plan !== undefined) pace.plan.nextSlot = Math.max(pace.plan.nextSlot, until)
}
