import { expect, test } from 'vitest'
import {
  currentRate,
  type LearnedRate,
  learnRate,
  reservePermit,
} from '../../../src/http/rate-limit/learned-rate.ts'

const lesson = { now: 0, perMs: 0.04, lengthMs: 4_000, pausedMs: 1_000 }
const planOf = (plan: Partial<LearnedRate> = {}): LearnedRate => ({
  basePerMs: 0.04,
  doublingMs: 10_000,
  limitedMs: 0,
  nextPermitAt: 0,
  bestPerMs: 0,
  ...plan,
})
const doublingAfter = (plan: LearnedRate | undefined, changes: Partial<typeof lesson> = {}) =>
  learnRate(plan, { ...lesson, ...changes }).doublingMs

test('probes the first rate soon, and the sooner the less was seen', () => {
  expect(doublingAfter(undefined, { lengthMs: 60_000 })).toBe(7_000)
  expect(doublingAfter(undefined, { lengthMs: 100 })).toBe(1_200)
})

test('probes a rate the more gently the longer it was good', () => {
  expect(doublingAfter(planOf(), { lengthMs: 100 })).toBe(7_000)
  expect(doublingAfter(planOf(), { lengthMs: 4_000 })).toBe(48_000)
})

test('probes no more gently than a hundred pauses or a thousand requests', () => {
  expect(doublingAfter(planOf(), { lengthMs: 1e9 })).toBe(100_000)
  expect(doublingAfter(planOf(), { lengthMs: 1e9, pausedMs: 1 })).toBe(25_000)
})

test('doubles a slow rate in no fewer than 40 requests', () => {
  expect(doublingAfter(planOf({ basePerMs: 0.001 }), { perMs: 0.001, lengthMs: 1_000 })).toBe(40_000)
})

test('tries a rate sooner that was possible lately', () => {
  const before = planOf({ basePerMs: 0.08, bestPerMs: 0.08 })
  const after = learnRate(before, { ...lesson, perMs: 0.04, lengthMs: 600, pausedMs: 60_000 })
  expect(after.bestPerMs).toBeCloseTo(0.076)
  expect(doublingAfter(planOf({ bestPerMs: 0.08 }), { lengthMs: 1e9 })).toBeCloseTo(
    100_000 * (0.04 / 0.076) ** 3,
  )
})

test.for([
  { when: 'as long as the pause', lengthMs: 1_500, base: 0.075 },
  { when: 'far longer than the pause', lengthMs: 20_000, base: 0.04 },
  { when: 'far shorter than the pause', lengthMs: 100, base: 0.04 },
])('falls to what it saw, or by a quarter at most, after a stretch $when', ({ lengthMs, base }) => {
  expect(learnRate(planOf({ basePerMs: 0.1 }), { ...lesson, lengthMs }).basePerMs).toBeCloseTo(base)
})

test('rises only while it is what holds requests back', () => {
  const plan = planOf()
  reservePermit(plan, 0)
  reservePermit(plan, 25)
  expect(plan.limitedMs).toBeCloseTo(50)
  reservePermit(plan, 5_000)
  expect(plan.limitedMs).toBeCloseTo(50)
})

test('is at twice its base after its doubling time', () => {
  expect(currentRate(planOf({ limitedMs: 10_000 }))).toBeCloseTo(0.08)
  expect(currentRate(planOf({ limitedMs: 2_000 }))).toBeCloseTo(0.0403)
})

test('makes up for a tenth of a second of missed slots and no more', () => {
  const plan = planOf()
  reservePermit(plan, 60_000)
  expect(plan.nextPermitAt).toBe(60_000 - 100 + 25)
})
