import { delayBeforeRetry, RETRY_DEFAULTS } from '../retry.ts'
import { estimateRate } from './estimate-rate.ts'
import { currentRate, type LearnedRate, learnRate, reservePermit } from './learned-rate.ts'
import {
  newRemainingQuota,
  quotaAvailableAt,
  type RemainingQuota,
  updateRemaining,
} from './remaining-quota.ts'
import {
  countSent,
  countThrottled,
  newSampleWindow,
  type SampleWindow,
  type SentRequest,
} from './sample-window.ts'

/** What came of a request. `undefined` where the service says nothing. */
export type RequestOutcome =
  /** An answer that spends quota: so many requests are left, and in `resetMs` the quota begins anew. */
  | { kind: 'granted'; remaining: number | undefined; resetMs: number | undefined }
  /** 429. */
  | { kind: 'throttled'; retryAfterMs: number | undefined }
  /** A fault, or no answer at all: says nothing of the rate. */
  | { kind: 'failed'; retryAfterMs: number | undefined }

type OutcomeContext = { now: number; random: () => number }

/** When requests may leave. Pure bookkeeping: the time is passed in. Milliseconds, and requests a millisecond. */
export type LimiterState = {
  pausedUntil: number
  inFlight: number
  sent: number
  /** Grants since requests were last let loose without a plan. */
  grantedSinceReset: number
  window: SampleWindow
  /** The last stretches that began with a full store, and always the very first. */
  earlierWindows: SampleWindow[]
  /** Undefined until the first refusal. */
  learnedRate: LearnedRate | undefined
  /** Undefined while requests are granted. */
  throttledPeriod: ThrottledPeriod | undefined
  quota: RemainingQuota
}

/** The time from a refusal to the next grant. */
type ThrottledPeriod = {
  since: number
  /** How long the refusal took to come. */
  roundTripMs: number
  /** The plan that was refused: none for the first refusal. */
  refusedRate: LearnedRate | undefined
  /** Times in a row that requests were refused. */
  consecutiveThrottles: number
  /** Nobody knows how long to wait: one request goes ahead, and the others follow when it is granted. */
  probing: boolean
  /** Becomes the stretch with its first grant. */
  nextWindow: SampleWindow | undefined
  /** Whether the stretch began with a full store. */
  startsFull: boolean
}

/** In flight at first: so many refusals at once do little harm. */
const INITIAL_IN_FLIGHT = 8
/** Then as many as half of what was granted: 32 after six round trips, and few refusals where a small burst ends. */
const RAMP_UP_DIVISOR = 2
/** Requests in flight are waited for before one leaves after a refusal, so that all of a herd's answers are known. */
const MAX_DRAIN_MS = 1_000
/** Resets come in whole seconds: the last one may be over at once. */
const MIN_RESET_MS = 1_000

export function newLimiterState(now: number): LimiterState {
  return {
    pausedUntil: now,
    inFlight: 0,
    sent: 0,
    grantedSinceReset: 0,
    window: newSampleWindow({ firstSequence: 1, since: now, idleMs: Number.POSITIVE_INFINITY }),
    earlierWindows: [],
    learnedRate: undefined,
    throttledPeriod: undefined,
    quota: newRemainingQuota(),
  }
}

/** When the next request may leave: perhaps long ago, and Infinity where an answer must come first. */
export function nextSendAt(state: LimiterState): number {
  const { pausedUntil, inFlight, learnedRate, throttledPeriod, grantedSinceReset } = state
  if (throttledPeriod !== undefined && throttledPeriod.nextWindow === undefined)
    return inFlight === 0 ? pausedUntil : Math.max(pausedUntil, throttledPeriod.since + MAX_DRAIN_MS)
  const permitAt = Math.max(pausedUntil, learnedRate?.nextPermitAt ?? pausedUntil)
  if (inFlight === 0) return permitAt
  if (throttledPeriod?.probing) return Number.POSITIVE_INFINITY
  if (
    learnedRate === undefined &&
    inFlight >= Math.max(INITIAL_IN_FLIGHT, grantedSinceReset / RAMP_UP_DIVISOR)
  )
    return Number.POSITIVE_INFINITY
  return Math.max(permitAt, quotaAvailableAt(state.quota, state.sent + 1))
}

/** Lets a request leave. */
export function send(state: LimiterState, now: number): SentRequest {
  if (state.throttledPeriod !== undefined && state.throttledPeriod.nextWindow === undefined)
    resumeAfterPause(state, state.throttledPeriod, now)
  countSent(state.throttledPeriod?.nextWindow ?? state.window, now)
  if (state.learnedRate !== undefined) reservePermit(state.learnedRate, now)
  state.inFlight += 1
  state.sent += 1
  return { sequence: state.sent, at: now }
}

/** Begins anew after a pause, at the rate that all stretches together speak for. */
function resumeAfterPause(state: LimiterState, throttledPeriod: ThrottledPeriod, now: number): void {
  const { window, earlierWindows: previous } = state
  const { refusedRate: learnedRate, roundTripMs } = throttledPeriod
  const pausedMs = now - window.end
  const peakPerMs = learnedRate === undefined ? undefined : currentRate(learnedRate)
  const { perMs, minPerMs } = estimateRate({ window, previous, peakPerMs, pausedMs, roundTripMs })
  state.learnedRate = learnRate(learnedRate, {
    now,
    perMs,
    lengthMs: Math.max(roundTripMs, window.end - window.since),
    pausedMs,
  })
  throttledPeriod.startsFull = state.learnedRate.basePerMs > minPerMs
  throttledPeriod.nextWindow = newSampleWindow({
    firstSequence: state.sent + 1,
    since: now,
    idleMs: pausedMs,
  })
}

/** Takes note of what came of a request. */
export function recordOutcome(
  state: LimiterState,
  request: SentRequest,
  outcome: RequestOutcome & OutcomeContext,
): void {
  state.inFlight -= 1
  if (outcome.kind === 'granted') recordGrant(state, request, outcome)
  else if (outcome.kind === 'throttled') recordThrottle(state, request, outcome)
  else if (outcome.retryAfterMs !== undefined) {
    pauseUntil(state, outcome.now + outcome.retryAfterMs)
    state.grantedSinceReset = 0
  }
}

type GrantedOutcome = Extract<RequestOutcome, { kind: 'granted' }> & OutcomeContext

function recordGrant(
  state: LimiterState,
  request: SentRequest,
  { now, remaining, resetMs }: GrantedOutcome,
): void {
  state.grantedSinceReset += 1
  const { throttledPeriod } = state
  if (
    throttledPeriod?.nextWindow !== undefined &&
    request.sequence >= throttledPeriod.nextWindow.firstSequence
  ) {
    if (throttledPeriod.startsFull) rememberWindow(state)
    state.window = throttledPeriod.nextWindow
    state.throttledPeriod = undefined
    if (state.learnedRate !== undefined)
      state.learnedRate.nextPermitAt = Math.max(state.learnedRate.nextPermitAt, now)
  }
  if (remaining === undefined) return
  updateRemaining(state.quota, { ...request, remaining })
  if (resetMs === undefined || resetMs <= MIN_RESET_MS) return
  if (quotaAvailableAt(state.quota, state.sent + 1) > now + resetMs) pauseUntil(state, now + resetMs)
}

function rememberWindow({ earlierWindows: previous, window }: LimiterState): void {
  previous.push(window)
  // The first, which began with a full store, and the newest two.
  if (previous.length > 3) previous.splice(1, 1)
}

type ThrottledOutcome = Extract<RequestOutcome, { kind: 'throttled' }> & OutcomeContext

function recordThrottle(
  state: LimiterState,
  request: SentRequest,
  { now, random, retryAfterMs }: ThrottledOutcome,
): void {
  const { throttledPeriod, window } = state
  countThrottled(window, request)
  const latestWindow = throttledPeriod === undefined ? window : throttledPeriod.nextWindow
  // The others of a herd say nothing new: they left before the first of them was answered.
  const isFromLatestWindow = latestWindow !== undefined && request.sequence >= latestWindow.firstSequence
  if (isFromLatestWindow)
    state.throttledPeriod = startThrottledPeriod(state, {
      now,
      request,
      explicitDelay: retryAfterMs !== undefined,
    })
  const backoffMs =
    isFromLatestWindow && state.throttledPeriod?.probing ? backoffDelay(state.throttledPeriod, random) : 0
  pauseUntil(state, now + Math.max(retryAfterMs ?? 0, backoffMs))
}

type ThrottleDetails = { now: number; request: SentRequest; explicitDelay: boolean }

function startThrottledPeriod(
  { learnedRate, throttledPeriod }: LimiterState,
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
    refusedRate: learnedRate,
    consecutiveThrottles: 1,
    probing: !explicitDelay,
    nextWindow: undefined,
    startsFull: false,
  }
}

/** Milliseconds to wait where the service does not say, or where what it said was too little: longer each time. */
function backoffDelay({ consecutiveThrottles }: ThrottledPeriod, random: () => number): number {
  const failures = { failures: consecutiveThrottles, retryAfterMs: undefined }
  return delayBeforeRetry(failures, RETRY_DEFAULTS, () => 0.5 + random() / 2)
}

/** Slots of the pause are lost: nobody may catch up with them after it. */
function pauseUntil(state: LimiterState, until: number): void {
  state.pausedUntil = Math.max(state.pausedUntil, until)
  if (state.learnedRate !== undefined)
    state.learnedRate.nextPermitAt = Math.max(state.learnedRate.nextPermitAt, until)
}
