import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  exchange,
  LOOK_AHEAD_MS,
  newSharedState,
  type PermitOutcome,
  parseSharedState,
  RAMP_UP_LOOK_AHEAD_MS,
  type ReservedPermit,
} from '../../../src/cluster/rate-limit/shared-limiter-state.ts'
import { countGrants } from '../../../src/http/rate-limit/estimate-rate.ts'
import { SHARED_TUNING } from '../../../src/http/rate-limit/learned-rate.ts'
import {
  newLimiterState,
  nextSendAt,
  type RequestOutcome,
  recordOutcome,
  send,
} from '../../../src/http/rate-limit/limiter-state.ts'

const NOW = 1_800_000_000_000
const GRANTED: RequestOutcome = { kind: 'granted', remaining: undefined, resetMs: undefined }
const random = () => 0.5
const at = (ms: number) => ({ now: NOW + ms, random })
const ask = (client: string, wanted: number) => ({ client, held: 0, outcomes: [], wanted })
const [ONE, OTHER] = ['0'.repeat(16), '1'.repeat(16)]

const delay = fc.constantFrom(undefined, 0, 700, 3_000)
const outcome = fc.oneof(
  fc.record({
    kind: fc.constant('granted' as const),
    remaining: fc.constantFrom(undefined, undefined, 0, 3, 20),
    resetMs: fc.constantFrom(undefined, 1_500),
  }),
  fc.record({ kind: fc.constantFrom('throttled' as const, 'failed' as const), retryAfterMs: delay }),
)
const step = fc.record({ passMs: fc.integer({ min: 1, max: 900 }), sends: fc.boolean(), outcome })

test('one process has the state of a local rate limiter, whatever the outcomes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const local = newLimiterState(0, SHARED_TUNING)
      let stored = JSON.stringify(newSharedState(NOW))
      const held: ReservedPermit[] = []
      let now = 0
      for (const { passMs, sends, outcome } of steps) {
        now += passMs
        const state = parseSharedState(stored, NOW + now)
        const permit = sends ? undefined : held.shift()
        if (permit !== undefined) recordOutcome(local, permit.request, { ...outcome, now, random })
        const outcomes = permit === undefined ? [] : [{ permit, outcome, ageMs: 0 }]
        const lookAheadMs = local.learnedRate?.stage === 'ramp-up' ? RAMP_UP_LOOK_AHEAD_MS : LOOK_AHEAD_MS
        const sendAt = Math.ceil(Math.max(now, nextSendAt(local)))
        const isDue = local.pausedUntil <= now && sendAt <= now + lookAheadMs
        const wanted = sends ? 1 : 0
        const { permits } = exchange(state, { client: ONE, held: held.length, outcomes, wanted }, at(now))
        expect(permits).toHaveLength(sends && isDue ? 1 : 0)
        if (sends && isDue) {
          expect(permits[0]?.permit.request).toEqual(send(local, sendAt, { tuning: SHARED_TUNING }))
          held.push(...permits.map(({ permit }) => permit))
        }
        expect(state.limiter).toEqual(local)
        stored = JSON.stringify(state)
      }
    }),
  )
})

test('issues each permit once, and to all clients together no more than to one', () => {
  const state = newSharedState(NOW)
  const taken: number[] = []
  for (const [client, held] of [
    [ONE, 0],
    [OTHER, 0],
    [ONE, 5],
    [OTHER, 3],
  ] as const) {
    const join = { knownPerMs: 0.02, pausedMs: 0 }
    const { permits } = exchange(state, { ...ask(client, 5), held, join }, at(0))
    taken.push(...permits.map(({ permit }) => permit.request.sequence))
  }
  expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('pauses all clients when one is throttled', () => {
  const state = newSharedState(NOW)
  const permit = exchange(state, ask(ONE, 1), at(0)).permits[0]?.permit
  if (permit === undefined) throw new Error('no permit')
  const throttled = { permit, outcome: { kind: 'throttled', retryAfterMs: 60_000 } as const, ageMs: 40 }
  exchange(state, { client: ONE, held: 0, outcomes: [throttled], wanted: 0 }, at(100))
  expect(exchange(state, ask(OTHER, 5), at(200))).toMatchObject({
    permits: [],
    pausedMs: 59_860,
    changed: false,
  })
  expect(exchange(state, ask(OTHER, 1), at(60_060)).permits).toHaveLength(1)
})

test('the permits of a client that was killed return after ten seconds', () => {
  const { state, permits, report } = throttling(2)
  report(permits, { kind: 'throttled', retryAfterMs: undefined }, 100)
  // One probe is sent after the pause. The others wait for its outcome.
  expect(exchange(state, ask(OTHER, 8), at(1_000)).permits).toHaveLength(1)
  expect(exchange(state, ask(ONE, 8), at(11_000))).toMatchObject({
    permits: [],
    nextMs: Number.POSITIVE_INFINITY,
  })
  expect(exchange(state, ask(ONE, 8), at(11_001)).permits).toHaveLength(1)
  expect(Object.keys(state.clients)).toEqual([ONE])
})

test('a late outcome of a returned permit is recorded and frees no other permit', () => {
  const state = newSharedState(NOW)
  const [first] = exchange(state, ask(ONE, 1), at(0)).permits
  if (first === undefined) throw new Error('no permit')
  exchange(state, ask(OTHER, 1), at(11_000))
  const late = [{ permit: first.permit, outcome: GRANTED, ageMs: 0 }]
  exchange(state, { client: ONE, held: 0, outcomes: late, wanted: 0 }, at(12_000))
  expect(state.limiter).toMatchObject({ inFlight: 1, grantedSinceReset: 1 })
})

test('an outcome of a lost state pauses and teaches no rate', () => {
  const state = newSharedState(NOW)
  const permit = { request: { sequence: 1, at: 0 }, state: NOW - 5 }
  const outcomes = [{ permit, outcome: { kind: 'throttled', retryAfterMs: 2_000 } as const, ageMs: 0 }]
  exchange(state, { client: ONE, held: 0, outcomes, wanted: 0 }, at(0))
  expect(state.limiter).toMatchObject({
    pausedUntil: 2_000,
    throttledPeriod: undefined,
    learnedRate: { stage: 'ramp-up' },
  })
})

/** A state with a known rate of one request per millisecond. */
function fastState() {
  const state = newSharedState(NOW)
  exchange(state, { ...ask(ONE, 0), join: { knownPerMs: 1, pausedMs: 0 } }, at(0))
  return state
}

/** Permits of a state, and a function that reports the same outcome for some of them. */
function throttling(requests: number) {
  const state = fastState()
  const permits = exchange(state, ask(ONE, requests), at(0)).permits.map(({ permit }) => permit)
  const report = (reported: readonly ReservedPermit[], outcome: PermitOutcome, ms: number) =>
    exchange(
      state,
      { ...ask(ONE, 0), outcomes: reported.map((permit) => ({ permit, outcome, ageMs: 0 })) },
      at(ms),
    )
  return { state, permits, report }
}

test('counts the 429s of one burst as one', () => {
  const { state, permits, report } = throttling(3)
  report(permits, { kind: 'throttled', retryAfterMs: undefined }, 100)
  expect(state.limiter.throttledPeriod).toMatchObject({ consecutiveThrottles: 1, probing: true })
  report(permits.slice(1), { kind: 'throttled', retryAfterMs: undefined }, 120)
  expect(state.limiter.throttledPeriod?.consecutiveThrottles).toBe(1)
})

test('does not count an unused permit as a grant', () => {
  const { state, permits, report } = throttling(4)
  const [first, unused, , last] = permits
  if (first === undefined || unused === undefined || last === undefined) throw new Error('no permits')
  report([unused], { kind: 'unused' }, 10)
  report([first], GRANTED, 100)
  report([last], { kind: 'throttled', retryAfterMs: 1_000 }, 100)
  expect(countGrants(state.limiter.window)).toBe(2)
})

test('a request of five times the cost delays the next ones accordingly at a known rate', () => {
  const state = newSharedState(0)
  const join = { knownPerMs: 0.1, pausedMs: 0 }
  const { permits } = exchange(state, { ...ask(ONE, 3), join, weights: [5, 1, 1] }, at(1_000))
  const [first = 0, second = 0, third = 0] = permits.map(({ permit }) => permit.request.at)
  expect([second - first, third - second]).toEqual([50, 10])
})
