import {
  type BurstProfile,
  burstProfile,
  countSent,
  countThrottled,
  countUnused,
  newSampleWindow,
  type SampleWindow,
  type SentRequest,
} from './estimate-rate.ts'
import {
  backoffDelay,
  initialRate,
  type LearnedRate,
  type RateTuning,
  reservePermit,
  resumeAfterPause,
  startThrottledPeriod,
  type ThrottledPeriod,
} from './learned-rate.ts'

/** Outcome of a request. A field is `undefined` if the service does not send it. */
export type RequestOutcome =
  /** A response that consumed quota. `remaining`: requests left; `resetMs`: time until the quota resets. */
  | { kind: 'granted'; remaining: number | undefined; resetMs: number | undefined }
  /** The service responded with 429. */
  | { kind: 'throttled'; retryAfterMs: number | undefined }
  /** An error status, or no response: indicates nothing about the rate. */
  | { kind: 'failed'; retryAfterMs: number | undefined }

/** The permit was not used: only a limiter that issues permits ahead of time has such outcomes. */
export type UnusedPermit = { kind: 'unused' }

type OutcomeContext = { now: number; random: () => number }

/** State of the rate limiter. The caller passes the time. Milliseconds, and requests per millisecond. */
export type LimiterState = {
  /** No request is sent before this time. */
  pausedUntil: number
  inFlight: number
  sent: number
  /** Grants since the start or the last error with Retry-After, which restarts the ramp-up. */
  grantedSinceReset: number
  /** Requests sent since the last pause. */
  window: SampleWindow
  /** Earlier windows that started with the burst capacity refilled: the first of all, and the latest two. */
  earlierWindows: BurstProfile[]
  /** Undefined until the first 429, unless the rate is known from the beginning. */
  learnedRate: LearnedRate | undefined
  /** Undefined while requests are granted. */
  throttledPeriod: ThrottledPeriod | undefined
  quota: RemainingQuota
}

/** Initial limit of requests in flight. It bounds the number of simultaneous 429s. */
const INITIAL_IN_FLIGHT = 8
/**
 * Ramp-up: the limit then grows to grants / 2, past 32 after six round trips. A small burst causes few 429s.
 */
const RAMP_UP_DIVISOR = 2
/** Maximum wait (ms) after a 429 for the requests in flight, whose outcomes show how many were granted. */
const MAX_DRAIN_MS = 1_000
/** Resets are stated in whole seconds: one of at most 1 s may already be over and is ignored. */
const MIN_RESET_MS = 1_000

/**
 * @param tuning `LOCAL_TUNING` or `SHARED_TUNING`
 * @param knownPerMs the rate of the quota, if it is known from the beginning
 */
export function newLimiterState(now: number, tuning: RateTuning, knownPerMs?: number): LimiterState {
  return {
    pausedUntil: now,
    inFlight: 0,
    sent: 0,
    grantedSinceReset: 0,
    window: newSampleWindow({ firstSequence: 1, since: now, idleMs: undefined }),
    earlierWindows: [],
    learnedRate: initialRate(now, knownPerMs, tuning),
    throttledPeriod: undefined,
    quota: newRemainingQuota(),
  }
}

/**
 * Starts over, unless the state is that of this known rate already: what was learned at another known rate does
 * not apply. A pause remains.
 *
 * @param knownPerMs the rate of the quota; undefined if it is unknown
 */
export function changeKnownRate(
  state: LimiterState,
  knownPerMs: number | undefined,
  { now, tuning }: { now: number; tuning: RateTuning },
): void {
  if (state.learnedRate?.maxPerMs === knownPerMs) return
  const { sent, inFlight, pausedUntil } = state
  Object.assign(state, newLimiterState(now, tuning, knownPerMs), { sent, inFlight })
  state.window.firstSequence = sent + 1
  pauseUntil(state, pausedUntil)
}

/** Earliest time of the next request: possibly in the past, Infinity if a response must arrive first. */
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

/**
 * Records that a request is sent now.
 *
 * @param tuning `LOCAL_TUNING` or `SHARED_TUNING`
 * @param weight see `reservePermit`
 */
export function send(
  state: LimiterState,
  now: number,
  { tuning, weight }: { tuning: RateTuning; weight?: number | undefined },
): SentRequest {
  if (state.throttledPeriod !== undefined && state.throttledPeriod.nextWindow === undefined)
    resumeAfterPause(state, state.throttledPeriod, { now, ...tuning })
  countSent(state.throttledPeriod?.nextWindow ?? state.window, now)
  if (state.learnedRate !== undefined) reservePermit(state.learnedRate, now, weight)
  state.inFlight += 1
  state.sent += 1
  return { sequence: state.sent, at: now }
}

/** Records the outcome of a request. */
export function recordOutcome(
  state: LimiterState,
  request: SentRequest,
  outcome: (RequestOutcome | UnusedPermit) & OutcomeContext,
): void {
  state.inFlight -= 1
  if (outcome.kind === 'granted') recordGrant(state, request, outcome)
  else if (outcome.kind === 'throttled') recordThrottle(state, request, outcome)
  else if (outcome.kind === 'unused') recordUnused(state, request)
  else if (outcome.retryAfterMs !== undefined) {
    pauseUntil(state, outcome.now + outcome.retryAfterMs)
    state.grantedSinceReset = 0
    if (state.learnedRate?.stage === 'ramp-up') state.learnedRate.limitedMs = 0
  }
}

function recordUnused({ window, throttledPeriod }: LimiterState, request: SentRequest): void {
  countUnused(window, request)
  if (throttledPeriod?.nextWindow !== undefined) countUnused(throttledPeriod.nextWindow, request)
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
  previous.push(burstProfile(window))
  // Keep the first window, which started with the full burst capacity, and the latest two.
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
  // Ignore 429s for requests sent before the first 429 arrived: they carry no new information.
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

/** Permits that fall into a pause are dropped, not accumulated, so requests do not burst when it ends. */
export function pauseUntil(state: LimiterState, until: number): void {
  state.pausedUntil = Math.max(state.pausedUntil, until)
  if (state.learnedRate !== undefined)
    state.learnedRate.nextPermitAt = Math.max(state.learnedRate.nextPermitAt, until)
}

/**
 * The limit that follows from `ratelimit-remaining`. If the service reports the remaining quota, it need not send
 * a 429: the limiter allows no more requests since the last report than it stated, plus the replenishment
 * observed recently.
 */
export type RemainingQuota = {
  /** The report in the response to the most recently sent request; undefined before the first report. */
  latest: QuotaReport | undefined
  /** Requests replenished recently and the time observed (ms). Both decay exponentially. */
  replenished: number
  observedMs: number
}

type QuotaReport = { sequence: number; at: number; remaining: number }

/** Time constant of the decay: another client of the same quota is noticed within seconds. */
const DECAY_MS = 1_000

export function newRemainingQuota(): RemainingQuota {
  return { latest: undefined, replenished: 0, observedMs: 0 }
}

/** Records a report. Responses can overtake each other, so a report for an earlier request is ignored. */
export function updateRemaining(quota: RemainingQuota, report: QuotaReport): void {
  const previous = quota.latest
  if (previous !== undefined && report.sequence <= previous.sequence) return
  quota.latest = report
  if (previous === undefined) return
  const elapsed = report.at - previous.at
  const sentSince = report.sequence - previous.sequence
  const decay = Math.exp(-elapsed / DECAY_MS)
  // When a fixed window resets, everything is replenished at once, which does not indicate a rate: count at
  // most what was sent.
  const returned = Math.min(sentSince, Math.max(0, report.remaining - previous.remaining + sentSince))
  quota.replenished = quota.replenished * decay + returned
  quota.observedMs = quota.observedMs * decay + elapsed
}

/**
 * Earliest time at which the reported quota allows the request with this sequence number: -Infinity if it
 * allows it now, Infinity if the replenishment rate is unknown, so that only another response can release it.
 */
export function quotaAvailableAt(
  { latest, replenished, observedMs }: RemainingQuota,
  sequence: number,
): number {
  if (latest === undefined) return Number.NEGATIVE_INFINITY
  const shortfall = sequence - latest.sequence - latest.remaining
  if (shortfall <= 0) return Number.NEGATIVE_INFINITY
  return replenished > 0 ? latest.at + (shortfall * observedMs) / replenished : Number.POSITIVE_INFINITY
}
