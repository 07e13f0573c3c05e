import { expect, test } from 'vitest'
import { estimateRate } from '../../../src/http/rate-limit/estimate-rate.ts'
import { allowedAt, newAllowance, noteRemaining } from '../../../src/http/rate-limit/remaining-quota.ts'
import {
  countDeparture,
  countGrants,
  countRefusal,
  newStretch,
  type Stretch,
  storeDrawn,
} from '../../../src/http/rate-limit/sample-window.ts'

type Sending = { count: number; perMs: number; since?: number; restedMs?: number }

/** `count` requests are granted, evenly; the next one is refused. */
function stretchOf({ count, perMs, since = 0, restedMs = Number.POSITIVE_INFINITY }: Sending): Stretch {
  const stretch = newStretch({ first: 1, since, restedMs })
  for (let nth = 0; nth <= count; nth += 1) countDeparture(stretch, since + nth / perMs)
  countRefusal(stretch, { nth: count + 1, at: since + count / perMs })
  return stretch
}

const told = { peak: 0.06, pausedMs: 1_000, tripMs: 100 }

test('takes the first rate for something between all in store and nothing in store', () => {
  const stretch = stretchOf({ count: 36, perMs: 0.1 })
  const { perMs } = estimateRate({ stretch, earlier: [], ...told, peak: undefined })
  expect(perMs).toBeCloseTo(Math.sqrt((36 / 1_360) * (36 / 360)))
})

test('takes no rate from a time shorter than an answer takes', () => {
  const stretch = stretchOf({ count: 1, perMs: 10 })
  const { perMs } = estimateRate({ stretch, earlier: [], ...told, peak: undefined })
  expect(perMs).toBeLessThanOrEqual(1 / 100)
})

test('finds the rate that gives two stretches the same store', () => {
  // A store of 20 that gains 40 a second: 36 in 0.4 s, and after a pause that fills it 60 in 1 s.
  const earlier = [stretchOf({ count: 36, perMs: 0.09 })]
  const stretch = stretchOf({ count: 60, perMs: 0.06, since: 1_400, restedMs: 1_000 })
  const { perMs, least } = estimateRate({ stretch, earlier, ...told })
  expect(perMs).toBeGreaterThan(0.039)
  expect(perMs).toBeLessThan(0.041)
  expect(perMs).toBeGreaterThan(least)
})

test('finds the rate of what a short pause gave back where no store ran over', () => {
  const earlier = [stretchOf({ count: 36, perMs: 0.09 })]
  const stretch = stretchOf({ count: 12, perMs: 0.06, since: 500, restedMs: 100 })
  const { perMs } = estimateRate({ stretch, earlier, ...told, pausedMs: 5_000 })
  expect(perMs).toBeCloseTo(12 / 300)
})

test('lets no stretch have drawn more from the store than any earlier one', () => {
  const small = stretchOf({ count: 45, perMs: 0.045 })
  const stretch = stretchOf({ count: 80, perMs: 0.05, since: 3_000, restedMs: 1_000 })
  const alone = estimateRate({ stretch, earlier: [stretchOf({ count: 36, perMs: 0.09 })], ...told })
  const both = estimateRate({ stretch, earlier: [stretchOf({ count: 36, perMs: 0.09 }), small], ...told })
  expect(both.perMs).toBeGreaterThan(alone.perMs * 1.05)
})

test('never finds more than the rate that was refused', () => {
  const earlier = [stretchOf({ count: 1, perMs: 10 })]
  const stretch = stretchOf({ count: 60, perMs: 0.06, since: 1_400, restedMs: 1_000 })
  expect(estimateRate({ stretch, earlier, ...told }).perMs).toBeLessThan(0.06 * 1.01)
})

test('counts neither what was refused nor what left after the last refusal', () => {
  const stretch = stretchOf({ count: 10, perMs: 0.1 })
  countDeparture(stretch, 110)
  countDeparture(stretch, 120)
  expect(countGrants(stretch)).toBe(10)
  expect(storeDrawn(stretch, 0)).toBe(10)
})

test('leaves alone what other stretches had refused', () => {
  const stretch = stretchOf({ count: 10, perMs: 0.1 })
  countRefusal(stretch, { nth: 12, at: 500 })
  countRefusal(stretch, { nth: 0, at: 500 })
  expect(stretch).toMatchObject({ refused: 1, end: 100 })
})

test('remembers a long stretch in little room, and as well', () => {
  const stretch = stretchOf({ count: 20_000, perMs: 0.05 })
  expect(stretch.departures.length).toBeLessThan(1_024)
  expect(countGrants(stretch)).toBe(20_000)
  expect(storeDrawn(stretch, 0.04)).toBeCloseTo(4_000, -2)
})

test('allows what is left and what comes back meanwhile', () => {
  const allowance = newAllowance()
  expect(allowedAt(allowance, 99)).toBe(Number.NEGATIVE_INFINITY)
  noteRemaining(allowance, { nth: 10, at: 0, remaining: 5 })
  expect(allowedAt(allowance, 15)).toBe(Number.NEGATIVE_INFINITY)
  expect(allowedAt(allowance, 16)).toBe(Number.POSITIVE_INFINITY)
  noteRemaining(allowance, { nth: 14, at: 100, remaining: 5 })
  expect(allowedAt(allowance, 20)).toBe(125)
  expect(allowedAt(allowance, 21)).toBe(150)
})

test('hears only the newest answer of those that overtake each other', () => {
  const allowance = newAllowance()
  noteRemaining(allowance, { nth: 10, at: 100, remaining: 5 })
  noteRemaining(allowance, { nth: 9, at: 50, remaining: 30 })
  expect(allowedAt(allowance, 16)).toBe(Number.POSITIVE_INFINITY)
})

test('notices within seconds that less comes back than before', () => {
  const allowance = newAllowance()
  for (let nth = 0; nth < 100; nth += 1) noteRemaining(allowance, { nth, at: nth * 25, remaining: 5 })
  for (let nth = 100; nth < 150; nth += 1)
    noteRemaining(allowance, { nth, at: 2_500 + (nth - 100) * 50, remaining: nth % 2 === 0 ? 5 : 4 })
  // 20 a second now, and no longer 40.
  expect(allowedAt(allowance, 156) - 4_950).toBeGreaterThan(125)
})

test('takes a window that begins anew for no rate', () => {
  const allowance = newAllowance()
  noteRemaining(allowance, { nth: 10, at: 0, remaining: 0 })
  noteRemaining(allowance, { nth: 11, at: 100, remaining: 299 })
  expect(allowedAt(allowance, 11 + 299 + 1)).toBeGreaterThanOrEqual(200)
})

test('what came back fades to a third within a second', () => {
  const allowance = newAllowance()
  noteRemaining(allowance, { nth: 0, at: 0, remaining: 0 })
  noteRemaining(allowance, { nth: 100, at: 1_000, remaining: 0 })
  expect(allowedAt(allowance, 101)).toBe(1_010)
  noteRemaining(allowance, { nth: 150, at: 2_000, remaining: 0 })
  const third = Math.exp(-1)
  expect(allowedAt(allowance, 151)).toBeCloseTo(2_000 + (1_000 * third + 1_000) / (100 * third + 50), 6)
})
