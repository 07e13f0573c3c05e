import { expect, test } from 'vitest'
import { estimateRate } from '../../../src/http/rate-limit/estimate-rate.ts'
import {
  newRemainingQuota,
  quotaAvailableAt,
  updateRemaining,
} from '../../../src/http/rate-limit/remaining-quota.ts'
import {
  burstUsed,
  countGrants,
  countSent,
  countThrottled,
  newSampleWindow,
  type SampleWindow,
} from '../../../src/http/rate-limit/sample-window.ts'

type Sending = { count: number; perMs: number; since?: number; restedMs?: number }

/** `count` requests are granted, evenly; the next one is refused. */
function stretchOf({
  count,
  perMs,
  since = 0,
  restedMs: idleMs = Number.POSITIVE_INFINITY,
}: Sending): SampleWindow {
  const window = newSampleWindow({ firstSequence: 1, since, idleMs })
  for (let nth = 0; nth <= count; nth += 1) countSent(window, since + nth / perMs)
  countThrottled(window, { sequence: count + 1, at: since + count / perMs })
  return window
}

const told = { peakPerMs: 0.06, pausedMs: 1_000, roundTripMs: 100 }

test('takes the first rate for something between all in store and nothing in store', () => {
  const window = stretchOf({ count: 36, perMs: 0.1 })
  const { perMs } = estimateRate({ window, previous: [], ...told, peakPerMs: undefined })
  expect(perMs).toBeCloseTo(Math.sqrt((36 / 1_360) * (36 / 360)))
})

test('takes no rate from a time shorter than an answer takes', () => {
  const window = stretchOf({ count: 1, perMs: 10 })
  const { perMs } = estimateRate({ window, previous: [], ...told, peakPerMs: undefined })
  expect(perMs).toBeLessThanOrEqual(1 / 100)
})

test('finds the rate that gives two stretches the same store', () => {
  // A store of 20 that gains 40 a second: 36 in 0.4 s, and after a pause that fills it 60 in 1 s.
  const previous = [stretchOf({ count: 36, perMs: 0.09 })]
  const window = stretchOf({ count: 60, perMs: 0.06, since: 1_400, restedMs: 1_000 })
  const { perMs, minPerMs } = estimateRate({ window, previous, ...told })
  expect(perMs).toBeGreaterThan(0.039)
  expect(perMs).toBeLessThan(0.041)
  expect(perMs).toBeGreaterThan(minPerMs)
})

test('finds the rate of what a short pause gave back where no store ran over', () => {
  const previous = [stretchOf({ count: 36, perMs: 0.09 })]
  const window = stretchOf({ count: 12, perMs: 0.06, since: 500, restedMs: 100 })
  const { perMs } = estimateRate({ window, previous, ...told, pausedMs: 5_000 })
  expect(perMs).toBeCloseTo(12 / 300)
})

test('lets no stretch have drawn more from the store than any earlier one', () => {
  const small = stretchOf({ count: 45, perMs: 0.045 })
  const window = stretchOf({ count: 80, perMs: 0.05, since: 3_000, restedMs: 1_000 })
  const alone = estimateRate({ window, previous: [stretchOf({ count: 36, perMs: 0.09 })], ...told })
  const both = estimateRate({ window, previous: [stretchOf({ count: 36, perMs: 0.09 }), small], ...told })
  expect(both.perMs).toBeGreaterThan(alone.perMs * 1.05)
})

test('never finds more than the rate that was refused', () => {
  const previous = [stretchOf({ count: 1, perMs: 10 })]
  const window = stretchOf({ count: 60, perMs: 0.06, since: 1_400, restedMs: 1_000 })
  expect(estimateRate({ window, previous, ...told }).perMs).toBeLessThan(0.06 * 1.01)
})

test('counts neither what was refused nor what left after the last refusal', () => {
  const window = stretchOf({ count: 10, perMs: 0.1 })
  countSent(window, 110)
  countSent(window, 120)
  expect(countGrants(window)).toBe(10)
  expect(burstUsed(window, 0)).toBe(10)
})

test('leaves alone what other stretches had refused', () => {
  const window = stretchOf({ count: 10, perMs: 0.1 })
  countThrottled(window, { sequence: 12, at: 500 })
  countThrottled(window, { sequence: 0, at: 500 })
  expect(window).toMatchObject({ throttled: 1, end: 100 })
})

test('remembers a long stretch in little room, and as well', () => {
  const window = stretchOf({ count: 20_000, perMs: 0.05 })
  expect(window.sentAt.length).toBeLessThan(1_024)
  expect(countGrants(window)).toBe(20_000)
  expect(burstUsed(window, 0.04)).toBeCloseTo(4_000, -2)
})

test('allows what is left and what comes back meanwhile', () => {
  const allowance = newRemainingQuota()
  expect(quotaAvailableAt(allowance, 99)).toBe(Number.NEGATIVE_INFINITY)
  updateRemaining(allowance, { sequence: 10, at: 0, remaining: 5 })
  expect(quotaAvailableAt(allowance, 15)).toBe(Number.NEGATIVE_INFINITY)
  expect(quotaAvailableAt(allowance, 16)).toBe(Number.POSITIVE_INFINITY)
  updateRemaining(allowance, { sequence: 14, at: 100, remaining: 5 })
  expect(quotaAvailableAt(allowance, 20)).toBe(125)
  expect(quotaAvailableAt(allowance, 21)).toBe(150)
})

test('hears only the newest answer of those that overtake each other', () => {
  const allowance = newRemainingQuota()
  updateRemaining(allowance, { sequence: 10, at: 100, remaining: 5 })
  updateRemaining(allowance, { sequence: 9, at: 50, remaining: 30 })
  expect(quotaAvailableAt(allowance, 16)).toBe(Number.POSITIVE_INFINITY)
})

test('notices within seconds that less comes back than before', () => {
  const allowance = newRemainingQuota()
  for (let sequence = 0; sequence < 100; sequence += 1)
    updateRemaining(allowance, { sequence, at: sequence * 25, remaining: 5 })
  for (let sequence = 100; sequence < 150; sequence += 1)
    updateRemaining(allowance, {
      sequence,
      at: 2_500 + (sequence - 100) * 50,
      remaining: sequence % 2 === 0 ? 5 : 4,
    })
  // 20 a second now, and no longer 40.
  expect(quotaAvailableAt(allowance, 156) - 4_950).toBeGreaterThan(125)
})

test('takes a window that begins anew for no rate', () => {
  const allowance = newRemainingQuota()
  updateRemaining(allowance, { sequence: 10, at: 0, remaining: 0 })
  updateRemaining(allowance, { sequence: 11, at: 100, remaining: 299 })
  expect(quotaAvailableAt(allowance, 11 + 299 + 1)).toBeGreaterThanOrEqual(200)
})

test('what came back fades to a third within a second', () => {
  const allowance = newRemainingQuota()
  updateRemaining(allowance, { sequence: 0, at: 0, remaining: 0 })
  updateRemaining(allowance, { sequence: 100, at: 1_000, remaining: 0 })
  expect(quotaAvailableAt(allowance, 101)).toBe(1_010)
  updateRemaining(allowance, { sequence: 150, at: 2_000, remaining: 0 })
  const third = Math.exp(-1)
  expect(quotaAvailableAt(allowance, 151)).toBeCloseTo(
    2_000 + (1_000 * third + 1_000) / (100 * third + 50),
    6,
  )
})
