import { describe, expect, test } from 'vitest'
import type { FailureCode } from '../../src/core/model/errors.ts'
import {
  BODY_FAULTS,
  type Break,
  breakWhere,
  CONNECTION_FAULTS,
  changed,
  ODD_ANSWERS,
  SLOW_FAULTS,
  STATUS_FAULTS,
  says,
} from '../helpers/faults.ts'
import { calmRun, type FaultyRun, faultyRun } from '../helpers/faulty-run.ts'
import type { Asked } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'

type Kind = { what: string; broken: Break; code: FailureCode; given?: FaultyRun }

function kindsOf(faults: Record<string, Break>, rest: Omit<Kind, 'what' | 'broken'>): Kind[] {
  return Object.entries(faults).map(([what, broken]) => ({ what, broken, ...rest }))
}

const fast = { retry: { retries: 1, firstDelayMs: 1, maxDelayMs: 2 } }
const kinds: Kind[] = [
  ...kindsOf(CONNECTION_FAULTS, { code: 'SERVICE_UNAVAILABLE' }),
  ...kindsOf(SLOW_FAULTS, { code: 'SERVICE_UNAVAILABLE', given: { timeoutMs: 300, options: fast } }),
  ...kindsOf(STATUS_FAULTS, { code: 'SERVICE_UNAVAILABLE' }),
  ...kindsOf(BODY_FAULTS, { code: 'PAGE_MALFORMED' }),
]

describe.for(kinds)('$what', ({ broken, code, given }) => {
  test('leaves no trace when a later try is good', async () => {
    const calm = await calmRun()
    const failed = new Set<string>()
    const firstTry = ({ path, query, count }: Asked) => {
      const request = `${path}?${query}`
      if (count % 3 === 0 || failed.has(request)) return false
      return failed.add(request).has(request)
    }
    const {
      output,
      code: ended,
      asked,
    } = await faultyRun(breakWhere(firstTry, broken), {
      ...given,
      options: {},
    })
    expect(ended).toBeUndefined()
    expect(outputBytes(output)).toEqual(calm.bytes)
    // After a timeout, the next pages are requested in smaller sizes.
    const isSlow = given?.timeoutMs !== undefined
    const sizes = new Set(asked.map(({ query }) => query.get('pageSize')))
    if (isSlow) expect([...sizes]).toContain('50')
    else expect(asked.length).toBe(calm.requests + failed.size)
  })

  test('ends a run when it stays, and a later run resumes', async () => {
    const calm = await calmRun()
    const good = 6
    const stays = breakWhere(({ count }) => count > good, broken)
    const { output, code: ended } = await faultyRun(stays, { ...given, concurrency: 1 })
    expect(ended).toBe(code)
    const later = await faultyRun(undefined, { output })
    expect(later.code).toBeUndefined()
    expect(outputBytes(output)).toEqual(calm.bytes)
    expect(later.asked.length).toBeLessThanOrEqual(calm.requests - good + 2)
  })
})

test.for(Object.entries(ODD_ANSWERS))('accepts %s in every answer', async ([, odd]) => {
  const calm = await calmRun()
  const { code, output, asked } = await faultyRun(breakWhere(() => true, odd))
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  expect(asked.length).toBe(calm.requests)
})

test.for(['0', '1', 'date', undefined])('waits out 429 with Retry-After %s', async (after) => {
  const calm = await calmRun()
  const value = after === 'date' ? new Date(Date.now() + 1_000).toUTCString() : after
  const refusal = says(429, '{"message":"slow down"}', value === undefined ? {} : { 'retry-after': value })
  const { code, output, jobs, asked } = await faultyRun(breakWhere(({ count }) => count % 9 === 8, refusal))
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  expect(asked.length).toBe(calm.requests + (jobs[0]?.figures.refusals ?? 0))
  expect(jobs[0]?.figures.refusals).toBeGreaterThan(0)
})

test('asks on through 429 until the budget is spent', async () => {
  const refusal = says(429, '', { 'retry-after': '0' })
  const { code, asked, output } = await faultyRun(
    breakWhere(() => true, refusal),
    { options: { maxRequests: 4 } },
  )
  expect([code, asked.length]).toEqual(['BUDGET_REACHED', 4])
  const later = await faultyRun(undefined, { output })
  expect(outputBytes(later.output)).toEqual((await calmRun()).bytes)
})

test('settles nothing when the service ignores the sort order', async () => {
  const calm = await calmRun()
  const falling = changed(({ transactions, ...page }) => ({
    ...page,
    transactions: transactions.toReversed(),
  }))
  const { code, output } = await faultyRun(
    breakWhere(() => true, falling),
    { concurrency: 1 },
  )
  expect(code).toBe('PAGE_MALFORMED')
  await faultyRun(undefined, { output })
  expect(outputBytes(output)).toEqual(calm.bytes)
})
