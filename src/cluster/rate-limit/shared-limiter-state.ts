import * as v from 'valibot'
import type { SentRequest } from '../../http/rate-limit/estimate-rate.ts'
import { type BurstProfile, MAX_SAMPLES, type SampleWindow } from '../../http/rate-limit/estimate-rate.ts'
import type { LearnedRate } from '../../http/rate-limit/learned-rate.ts'
import { SHARED_TUNING } from '../../http/rate-limit/learned-rate.ts'
import {
  changeKnownRate,
  type LimiterState,
  newLimiterState,
  nextSendAt,
  pauseUntil,
  type RequestOutcome,
  recordOutcome,
  send,
  type UnusedPermit,
} from '../../http/rate-limit/limiter-state.ts'
import { MAX_WAIT_MS } from '../../http/run-limits.ts'
import { count, parseTextAs, token } from '../schemas.ts'

/**
 * Version of the format and of the meaning of its fields. Each version has a key of its own in Redis; a state of
 * another version under this key is replaced.
 */
export const STATE_VERSION = 1

/**
 * The state of the rate limiter of a quota that several processes share: the state of the local rate limiter,
 * changed by the same functions, and the permits that each process holds. Times are in milliseconds since
 * `startedAt`.
 */
export type SharedLimiterState = {
  version: typeof STATE_VERSION
  /**
   * Creation time by the store's clock, in milliseconds since 1970. It identifies the state: permits of a
   * state that was lost have another one.
   */
  startedAt: number
  /** Time of the last change. */
  updatedAt: number
  limiter: LimiterState
  /** Permits that each process holds, and when it last changed the state. */
  clients: Record<string, { inFlight: number; seenAt: number }>
}

/** A permit: its request, and the state that issued it (`startedAt`). */
export type ReservedPermit = { request: SentRequest; state: number }

/** The outcome of a permit's request, or that the permit was not used. */
export type PermitOutcome = RequestOutcome | UnusedPermit

/** What a process reports and requests in one exchange. Times in milliseconds. */
export type ExchangeRequest = {
  client: string
  /** Permits that the process holds apart from those in `outcomes`. */
  held: number
  /**
   * Stated in the first exchange with a state: the rate of the quota that the process knows, and the remaining pause
   * that a state which was lost had requested.
   */
  join?: { knownPerMs: number | undefined; pausedMs: number } | undefined
  /** `ageMs`: time since the outcome is known. */
  outcomes: readonly { permit: ReservedPermit; outcome: PermitOutcome; ageMs: number }[]
  /** Number of permits that the process can use now. */
  wanted: number
  /** The weights of their requests in order, see `reservePermit`. @default 1 each */
  weights?: readonly number[]
}

export type ExchangeResult = {
  /** Permits, and the delay until each may be used: at most `LOOK_AHEAD_MS`. */
  permits: { permit: ReservedPermit; delayMs: number }[]
  /** Delay until more permits may be available; Infinity if an outcome must be known first. */
  nextMs: number
  /** Upper bound of the delay of permits. */
  lookAheadMs: number
  /** Remaining pause of all processes. */
  pausedMs: number
  /** Whether the state must be stored. */
  changed: boolean
}

/**
 * Permits are issued up to this far ahead (ms), so that a process gets several per exchange. After a 429,
 * other processes may still use permits of this time until they notice it.
 */
export const LOOK_AHEAD_MS = 300
/** The same until the first 429, while the rate rises quickly. */
export const RAMP_UP_LOOK_AHEAD_MS = 50
/**
 * Permits of a process that has not changed the state for this long (ms) count as returned: the process was
 * killed, or its requests are slow. Their outcomes are recorded all the same.
 */
const CLIENT_EXPIRY_MS = 10_000

export function newSharedState(now: number): SharedLimiterState {
  return {
    version: STATE_VERSION,
    startedAt: now,
    updatedAt: 0,
    limiter: newLimiterState(0, SHARED_TUNING),
    clients: {},
  }
}

/**
 * Records the outcomes that a process reports and issues permits to it. Changes `state`.
 *
 * @param now time by the store's clock, in milliseconds since 1970
 */
export function exchange(
  state: SharedLimiterState,
  { client, held, join, outcomes, wanted, weights = [] }: ExchangeRequest,
  { now: unixMs, random }: { now: number; random: () => number },
): ExchangeResult {
  const { limiter, clients, startedAt } = state
  const now = unixMs - startedAt
  if (join !== undefined) {
    changeKnownRate(limiter, join.knownPerMs, { now, tuning: SHARED_TUNING })
    if (join.pausedMs > 0) pauseUntil(limiter, now + join.pausedMs)
  }
  for (const { permit, outcome, ageMs } of outcomes) {
    const known = permit.state === startedAt ? outcome : pauseOnly(outcome)
    recordOutcome(limiter, permit.request, { ...known, now: now - ageMs, random })
  }
  for (const [id, { seenAt }] of Object.entries(clients))
    if (Math.abs(now - seenAt) > CLIENT_EXPIRY_MS) delete clients[id]
  delete clients[client]
  limiter.inFlight = Object.values(clients).reduce((sum, { inFlight }) => sum + inFlight, held)
  const requests = reserve(limiter, now, { wanted, weights })
  const lookAheadMs = lookAheadOf(limiter)
  const inFlight = held + requests.length
  if (inFlight > 0) clients[client] = { inFlight, seenAt: now }
  state.updatedAt = now
  const pausedMs = Math.max(0, limiter.pausedUntil - now)
  return {
    permits: requests.map((request) => ({
      permit: { request, state: startedAt },
      delayMs: request.at - now,
    })),
    nextMs: Math.max(pausedMs, nextSendAt(limiter) - lookAheadMs - now),
    lookAheadMs,
    pausedMs,
    changed: join !== undefined || outcomes.length > 0 || requests.length > 0,
  }
}

const lookAheadOf = ({ learnedRate }: LimiterState) =>
  learnedRate?.stage === 'ramp-up' ? RAMP_UP_LOOK_AHEAD_MS : LOOK_AHEAD_MS

/** Issues no permits ahead of the end of a pause, because another 429 may prolong it. */
function reserve(
  limiter: LimiterState,
  now: number,
  { wanted, weights }: Required<Pick<ExchangeRequest, 'wanted' | 'weights'>>,
): SentRequest[] {
  const requests: SentRequest[] = []
  while (requests.length < wanted && limiter.pausedUntil <= now) {
    // Whole milliseconds keep the stored state small.
    const at = Math.ceil(Math.max(now, nextSendAt(limiter)))
    if (at > now + lookAheadOf(limiter)) break
    requests.push(send(limiter, at, { tuning: SHARED_TUNING, weight: weights[requests.length] }))
  }
  return requests
}

/** The outcome of a request that the state does not know may request a pause, but indicates no rate. */
function pauseOnly(outcome: PermitOutcome): RequestOutcome {
  return { kind: 'failed', retryAfterMs: 'retryAfterMs' in outcome ? outcome.retryAfterMs : undefined }
}

/** A clock that was set back by more than this (ms) invalidates the state. */
const MAX_CLOCK_STEP_MS = 1_000
/** Upper bound of all times, in milliseconds after now: a pause, and the interval of the slowest rate. */
const MAX_AHEAD_MS = 2 * MAX_WAIT_MS
const MAX_CLIENTS = 1_000
/** Upper bound of the absolute value of numbers, so that sums stay finite and precise. */
const MAX_NUMBER = 1e15

/** JSON omits undefined fields. */
const none = () => undefined
const amount = v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_NUMBER))
const positive = v.pipe(v.number(), v.minValue(1e-3), v.maxValue(MAX_NUMBER))
const time = v.pipe(v.number(), v.minValue(-MAX_NUMBER), v.maxValue(MAX_NUMBER))
/** Requests per millisecond: at least one in twelve days. */
const rate = v.pipe(v.number(), v.minValue(1e-9), v.maxValue(1e3))

/** One check for the whole list, because valibot's check of each number takes most of the time of an exchange. */
const isTimes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length <= MAX_SAMPLES &&
  value.every((at) => typeof at === 'number' && Math.abs(at) <= MAX_NUMBER)

const sampleWindow: v.GenericSchema<unknown, SampleWindow> = v.strictObject({
  firstSequence: count,
  since: time,
  end: time,
  idleMs: v.optional(amount, none),
  sentAt: v.custom<number[]>(isTimes),
  stride: v.pipe(count, v.minValue(1)),
  sent: count,
  throttled: count,
  firstThrottledAt: v.optional(time, none),
  unusedAt: v.custom<number[]>(isTimes),
})

const profile: v.GenericSchema<unknown, BurstProfile> = v.strictObject({
  grants: count,
  end: time,
  sentAt: v.custom<number[]>(isTimes),
  sentBefore: v.custom<number[]>(isTimes),
})

const learnedRate: v.GenericSchema<unknown, LearnedRate> = v.strictObject({
  basePerMs: rate,
  doublingMs: v.optional(positive, none),
  limitedMs: amount,
  nextPermitAt: time,
  bestPerMs: v.pipe(v.number(), v.minValue(0), v.maxValue(1e3)),
  maxPerMs: v.optional(rate, none),
  stage: v.optional(v.picklist(['ramp-up', 'measured']), none),
})

const sharedState: v.GenericSchema<unknown, SharedLimiterState> = v.strictObject({
  version: v.literal(STATE_VERSION),
  startedAt: amount,
  updatedAt: time,
  limiter: v.strictObject({
    pausedUntil: time,
    inFlight: count,
    sent: count,
    grantedSinceReset: count,
    window: sampleWindow,
    earlierWindows: v.pipe(v.array(profile), v.maxLength(3)),
    learnedRate: v.optional(learnedRate, none),
    throttledPeriod: v.optional(
      v.strictObject({
        since: time,
        roundTripMs: positive,
        throttledRate: v.optional(learnedRate, none),
        consecutiveThrottles: count,
        probing: v.boolean(),
        startsFull: v.boolean(),
        nextWindow: v.optional(sampleWindow, none),
      }),
      none,
    ),
    quota: v.strictObject({
      latest: v.optional(v.strictObject({ sequence: count, at: time, remaining: count }), none),
      replenished: amount,
      observedMs: amount,
    }),
  }),
  clients: v.pipe(
    v.record(token, v.strictObject({ inFlight: count, seenAt: time })),
    v.check((clients) => Object.keys(clients).length <= MAX_CLIENTS),
  ),
})

/**
 * Parses a stored state. Other programs can write to the store: anything but a plausible state of this version
 * is replaced with a new one, so that the rate is learned again.
 */
export function parseSharedState(json: string, now: number): SharedLimiterState {
  const state = parseTextAs(sharedState, json)
  return state !== undefined && isPlausible(state, now - state.startedAt) ? state : newSharedState(now)
}

function isPlausible({ updatedAt, limiter }: SharedLimiterState, now: number): boolean {
  const { pausedUntil, learnedRate, throttledPeriod, window } = limiter
  const times = [pausedUntil, learnedRate?.nextPermitAt ?? 0, throttledPeriod?.since ?? 0, window.end]
  return updatedAt <= now + MAX_CLOCK_STEP_MS && times.every((at) => at <= now + MAX_AHEAD_MS)
}
