import { expect, test } from 'vitest'
import type { FailureCode } from '../../src/core/model/errors.ts'
import {
  BODY_FAULTS,
  CONNECTION_FAULTS,
  type FaultyResponse,
  faultWhere,
  respondWith,
  SLOW_FAULTS,
  STATUS_FAULTS,
  UNUSUAL_RESPONSES,
  withChangedPage,
} from '../helpers/faults.ts'
import { baselineRun, type FaultyRun, faultyRun } from '../helpers/faulty-run.ts'
import type { ReceivedRequest } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { testSample } from '../helpers/test-sample.ts'

type Kind = { what: string; broken: FaultyResponse; code: FailureCode; given?: FaultyRun }

function kindsOf(faults: Record<string, FaultyResponse>, rest: Omit<Kind, 'what' | 'broken'>): Kind[] {
  return Object.entries(faults).map(([what, broken]) => ({ what, broken, ...rest }))
}

const fast = { retry: { retries: 1, firstDelayMs: 1, maxDelayMs: 2 } }
const CLASSES: Kind[][] = [
  kindsOf(CONNECTION_FAULTS, { code: 'SERVICE_UNAVAILABLE' }),
  kindsOf(STATUS_FAULTS, { code: 'SERVICE_UNAVAILABLE' }),
  kindsOf(BODY_FAULTS, { code: 'PAGE_MALFORMED' }),
  // Each slow response takes the time of its timeout.
  kindsOf(SLOW_FAULTS, { code: 'SERVICE_UNAVAILABLE', given: { timeoutMs: 1_000, options: fast } }),
]
const firsts = CLASSES.flatMap((kinds) => kinds.slice(0, 1))
const others = CLASSES.flatMap((kinds) => kinds.slice(1))

// survive/faults.test.ts does this with every kind.
testSample(3, firsts, '$what leaves no trace if a retry succeeds', async ({ broken, given }) => {
  const calm = await baselineRun()
  const failed = new Set<string>()
  const firstTry = ({ path, query, count }: ReceivedRequest) => {
    const request = `${path}?${query}`
    if (count % 3 === 0 || failed.has(request)) return false
    return failed.add(request).has(request)
  }
  const { output, code, requests } = await faultyRun(faultWhere(firstTry, broken), { ...given, options: {} })
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  // After a timeout, the next pages are requested in smaller sizes.
  const isSlow = given?.timeoutMs !== undefined
  const sizes = new Set(requests.map(({ query }) => query.get('pageSize')))
  if (isSlow) expect([...sizes]).toContain('50')
  else expect(requests.length).toBe(calm.requests + failed.size)
})

testSample(
  3,
  [...firsts, ...others],
  '$what ends a run if it persists, and a later run resumes',
  async ({ broken, code, given }) => {
    const calm = await baselineRun()
    const good = 6
    const stays = faultWhere(({ count }) => count > good, broken)
    const { output, code: ended } = await faultyRun(stays, { ...given, concurrency: 1 })
    expect(ended).toBe(code)
    const later = await faultyRun(undefined, { output })
    expect(later.code).toBeUndefined()
    expect(outputBytes(output)).toEqual(calm.bytes)
    expect(later.requests.length).toBeLessThanOrEqual(calm.requests - good + 2)
  },
)

test.for(Object.entries(UNUSUAL_RESPONSES))(
  'accepts %s in every response',
  { tags: ['long'] },
  async ([, odd]) => {
    const calm = await baselineRun()
    const { code, output, requests } = await faultyRun(faultWhere(() => true, odd))
    expect(code).toBeUndefined()
    expect(outputBytes(output)).toEqual(calm.bytes)
    expect(requests.length).toBe(calm.requests)
  },
)

testSample(2, ['date', undefined, '0', '1'], 'waits for a 429 with Retry-After %s', async (after) => {
  const calm = await baselineRun()
  const value = after === 'date' ? new Date(Date.now() + 1_000).toUTCString() : after
  const refusal = respondWith(
    429,
    '{"message":"slow down"}',
    value === undefined ? {} : { 'retry-after': value },
  )
  const { code, output, jobs, requests } = await faultyRun(
    faultWhere(({ count }) => count % 9 === 8, refusal),
  )
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(calm.bytes)
  expect(requests.length).toBe(calm.requests + (jobs[0]?.stats.rateLimited ?? 0))
  expect(jobs[0]?.stats.rateLimited).toBeGreaterThan(0)
})

test('retries 429s until the budget is spent', async () => {
  const refusal = respondWith(429, '', { 'retry-after': '0' })
  const { code, requests, output } = await faultyRun(
    faultWhere(() => true, refusal),
    { options: { maxRequests: 4 } },
  )
  expect([code, requests.length]).toEqual(['BUDGET_REACHED', 4])
  const later = await faultyRun(undefined, { output })
  expect(outputBytes(later.output)).toEqual((await baselineRun()).bytes)
})

test('accepts no pages if the service ignores the sort order', async () => {
  const calm = await baselineRun()
  const falling = withChangedPage(({ transactions, ...page }) => ({
    ...page,
    transactions: transactions.toReversed(),
  }))
  const { code, output, jobs } = await faultyRun(
    faultWhere(() => true, falling),
    { concurrency: 1 },
  )
  expect(code).toBe('PAGE_MALFORMED')
  expect(jobs[0]?.error?.fix).toMatch(/^The service ignores sortOrder/)
  await faultyRun(undefined, { output })
  expect(outputBytes(output)).toEqual(calm.bytes)
})
