import { expect, test } from 'vitest'
import {
  currentRate,
  type LearnedRate,
  learnRate,
  reservePermit,
} from '../../../src/http/rate-limit/learned-rate.ts'

const observation = {
  now: 0,
  perMs: 0.04,
  lengthMs: 4_000,
  pausedMs: 1_000,
  isMeasured: false,
  windowGrants: 40,
  burstGrants: 10,
  probeWindows: 12,
  firstProbeWindows: 12,
  belowBestPower: 8,
}
const rateOf = (rate: Partial<LearnedRate> = {}): LearnedRate => ({
  basePerMs: 0.04,
  doublingMs: 10_000,
  limitedMs: 0,
  nextPermitAt: 0,
  bestPerMs: 0,
  ...rate,
})
const doublingAfter = (rate: LearnedRate | undefined, changes: Partial<typeof observation> = {}) =>
  learnRate(rate, { ...observation, ...changes }).doublingMs

test('probes the first rate soon, and sooner after a shorter window', () => {
  expect(doublingAfter(undefined, { lengthMs: 60_000 })).toBe(7_000)
  expect(doublingAfter(undefined, { lengthMs: 100 })).toBe(1_200)
})

test('probes a rate more gently the longer it held', () => {
  expect(doublingAfter(rateOf(), { lengthMs: 100 })).toBe(7_000)
  expect(doublingAfter(rateOf(), { lengthMs: 4_000 })).toBe(48_000)
})

test('doubles a rate within 400 pauses or a thousand requests', () => {
  expect(doublingAfter(rateOf(), { lengthMs: 1e9 })).toBe(400_000)
  expect(doublingAfter(rateOf(), { lengthMs: 1e9, pausedMs: 1 })).toBe(25_000)
})

test('doubles a slow rate within no fewer than 40 requests', () => {
  expect(doublingAfter(rateOf({ basePerMs: 0.001 }), { perMs: 0.001, lengthMs: 1_000 })).toBe(40_000)
})

test('probes sooner below the recent best rate', () => {
  const before = rateOf({ basePerMs: 0.08, bestPerMs: 0.08 })
  const after = learnRate(before, { ...observation, perMs: 0.04, lengthMs: 600, pausedMs: 60_000 })
  expect(after.bestPerMs).toBeCloseTo(0.0776)
  expect(doublingAfter(rateOf({ bestPerMs: 0.05 }), { lengthMs: 1e9 })).toBeCloseTo(
    400_000 * (0.04 / 0.0485) ** 8,
  )
})

test.for([
  { when: 'as long as the pause', lengthMs: 1_500, base: 0.075 },
  { when: 'far longer than the pause', lengthMs: 20_000, base: 0.04 },
  { when: 'far shorter than the pause', lengthMs: 100, base: 0.04 },
])('falls to the estimate, but at most by a quarter after a window $when', ({ lengthMs, base }) => {
  expect(learnRate(rateOf({ basePerMs: 0.1 }), { ...observation, lengthMs }).basePerMs).toBeCloseTo(base)
})

test('rises only while it limits sending', () => {
  const rate = rateOf()
  reservePermit(rate, 0)
  reservePermit(rate, 25)
  expect(rate.limitedMs).toBeCloseTo(50)
  reservePermit(rate, 5_000)
  expect(rate.limitedMs).toBeCloseTo(50)
})

test('reaches twice its base after the doubling time', () => {
  expect(currentRate(rateOf({ limitedMs: 10_000 }))).toBeCloseTo(0.08)
  expect(currentRate(rateOf({ limitedMs: 2_000 }))).toBeCloseTo(0.0403)
})

test('makes up for the permits missed in the last 100 ms and no more', () => {
  const rate = rateOf()
  reservePermit(rate, 60_000)
  expect(rate.nextPermitAt).toBe(60_000 - 100 + 25)
})

test('follows the estimate of a window whose grants no burst explains', () => {
  const changes = { ...observation, lengthMs: 1_500, windowGrants: 400 }
  expect(learnRate(rateOf({ basePerMs: 0.1 }), changes).basePerMs).toBeCloseTo(0.04)
})

test('never learns less than one request per hour', () => {
  const slow = { ...observation, perMs: 1e-9, lengthMs: 1e9, pausedMs: 1e9 }
  for (const rate of [undefined, rateOf({ basePerMs: 1e-9 })])
    expect(learnRate(rate, slow).basePerMs).toBe(1 / 3_600_000)
})

test('retains three quarters of a measured rate after a short window', () => {
  const observed = { ...observation, perMs: 0.005, lengthMs: 300 }
  expect(learnRate(rateOf({ stage: 'measured' }), observed).basePerMs).toBeCloseTo(0.03)
  expect(learnRate(rateOf(), observed).basePerMs).toBeCloseTo(0.009)
  const first = learnRate(undefined, { ...observation, isMeasured: true })
  expect(first.stage).toBe('measured')
  expect(learnRate(first, observed).stage).toBeUndefined()
})

test('retains 5 % of a known rate, whatever is throttled', () => {
  const observed = { ...observation, perMs: 1e-6, lengthMs: 100, pausedMs: 3_600_000 }
  expect(learnRate(rateOf({ maxPerMs: 0.04 }), observed).basePerMs).toBeCloseTo(0.002)
  expect(learnRate(rateOf(), observed).basePerMs).toBeLessThan(1e-4)
})
