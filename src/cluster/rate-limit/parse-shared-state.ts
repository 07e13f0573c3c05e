import * as v from 'valibot'
import { type BurstProfile, MAX_SAMPLES, type SampleWindow } from '../../http/rate-limit/estimate-rate.ts'
import type { LearnedRate } from '../../http/rate-limit/learned-rate.ts'
import { MAX_WAIT_MS } from '../../http/run-limits.ts'
import { count, parseTextAs, token } from '../schemas.ts'
import { newSharedState, type SharedLimiterState, STATE_VERSION } from './shared-limiter-state.ts'

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
