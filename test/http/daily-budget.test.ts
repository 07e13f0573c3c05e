import { expect, test } from 'vitest'
import { openDailyBudget, startRunLimits } from '../../src/http/run-limits.ts'

const NOON = Date.UTC(2025, 0, 31, 12)

test('ends before the units of a day are exceeded, and says when to go on', () => {
  const budget = openDailyBudget({ perDay: 100, used: 30, now: () => NOON })
  for (let nth = 0; nth < 3; nth += 1) budget.count(20)
  budget.count(10)
  expect(() => budget.count(1)).toThrow(
    expect.objectContaining({
      code: 'BUDGET_REACHED',
      message: 'the budget of 100 compute units a day is used up until 2025-02-01 00:00 UTC',
      fix: expect.stringContaining('after 2025-02-01 00:00 UTC: it resumes'),
    }),
  )
})

test('is renewed when the UTC day ends', () => {
  let now = NOON
  const budget = openDailyBudget({ perDay: 100, used: 90, now: () => now })
  expect(() => budget.count(20)).toThrow('used up')
  expect(budget.left()).toBe(10)
  now += 12 * 3_600_000
  expect(budget.left()).toBe(100)
  budget.count(100)
  expect(() => budget.count(1)).toThrow('used up')
})

test('is no limit without a number of units', () => {
  expect(() => openDailyBudget({ perDay: undefined, used: 0 }).count(1e9)).not.toThrow()
})

test('parts of a command that share their usage share the limit on requests', () => {
  const usage = { requests: 0 }
  const [first, second] = [1, 2].map(() => startRunLimits({ maxRequests: 3, usage }, 'aborted'))
  first?.countRequest()
  first?.countRequest()
  second?.countRequest()
  expect(second?.countRequest).toThrow('the limit of 3 requests is reached')
  for (const limits of [first, second]) limits?.end()
})

test('a request that the budget refuses does not count', () => {
  const usage = { requests: 0 }
  const limits = startRunLimits({ usage }, 'aborted', openDailyBudget({ perDay: 10, used: 0 }))
  expect(() => limits.countRequest(20)).toThrow('used up')
  expect(usage.requests).toBe(0)
  limits.end()
})
