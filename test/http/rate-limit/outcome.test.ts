import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RequestOutcome } from '../../../src/http/rate-limit/limiter-state.ts'
import { readOutcome } from '../../../src/http/read-outcome.ts'
import { type RequestContext, request } from '../../../src/http/request.ts'
import { fakeClient } from '../../helpers/fake-client.ts'

const NOW = Date.parse('2026-03-01T12:00:00.400Z')

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const silent = { remaining: undefined, resetMs: undefined }

test.for([
  { when: '200', status: 200, headers: {}, outcome: { kind: 'granted', ...silent } },
  { when: '404', status: 404, headers: {}, outcome: { kind: 'granted', ...silent } },
  {
    when: '200 with the rate headers',
    status: 200,
    headers: { 'ratelimit-remaining': '17', 'ratelimit-reset': '9' },
    outcome: { kind: 'granted', remaining: 17, resetMs: 9_000 },
  },
  {
    when: '200 with a reset in Unix seconds',
    status: 200,
    headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String((NOW - 400) / 1000 + 9) },
    outcome: { kind: 'granted', remaining: 0, resetMs: 8_600 },
  },
  {
    when: '200 with several quotas in one header',
    status: 200,
    headers: { 'ratelimit-remaining': '17, 2000', 'ratelimit-reset': 'soon' },
    outcome: { kind: 'granted', ...silent },
  },
  { when: '429', status: 429, headers: {}, outcome: { kind: 'throttled', retryAfterMs: undefined } },
  {
    when: '429 with Retry-After in seconds',
    status: 429,
    headers: { 'retry-after': '7', 'ratelimit-reset': '60' },
    outcome: { kind: 'throttled', retryAfterMs: 7_000 },
  },
  {
    when: '429 with Retry-After as a date',
    status: 429,
    headers: { 'retry-after': 'Sun, 01 Mar 2026 12:00:02 GMT' },
    outcome: { kind: 'throttled', retryAfterMs: 1_600 },
  },
  {
    when: '429 with a date of a clock that is one hour ahead',
    status: 429,
    headers: { 'retry-after': 'Sun, 01 Mar 2026 13:00:02 GMT', date: 'Sun, 01 Mar 2026 13:00:00 GMT' },
    outcome: { kind: 'throttled', retryAfterMs: 2_000 },
  },
  {
    when: '429 with a reset time only',
    status: 429,
    headers: { 'ratelimit-reset': '60' },
    outcome: { kind: 'throttled', retryAfterMs: 60_000 },
  },
  {
    when: '503 with Retry-After in seconds',
    status: 503,
    headers: { 'retry-after': '7' },
    outcome: { kind: 'failed', retryAfterMs: 7_000 },
  },
  { when: '500', status: 500, headers: {}, outcome: { kind: 'failed', retryAfterMs: undefined } },
])('reads $outcome.kind from $when', ({ status, headers, outcome }) => {
  expect(readOutcome({ status, headers: headers as Record<string, string> })).toEqual(outcome)
})

type Answering = (count: number) => { status: number; headers?: Record<string, string> }

type Asking = { onEvent?: RequestContext['onEvent']; hasResourceLimit?: boolean }

/**
 * Requests a page. `answering` gives the response of each attempt. Returns the outcomes recorded by the rate
 * limiter.
 */
async function outcomesOf(
  answering: Answering,
  { onEvent = () => {}, hasResourceLimit = false }: Asking = {},
): Promise<RequestOutcome[]> {
  const outcomes: RequestOutcome[] = []
  let count = 0
  const send = async () => {
    const { status, headers = {} } = answering(count++)
    return { status, headers, body: Buffer.from('{}') }
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: { acquire: async () => (outcome) => void outcomes.push(outcome), pausedForMs: () => 0 },
    limit: (task) => task(),
    retry: { retries: 1, firstDelayMs: 0, maxDelayMs: 0 },
    signal: new AbortController().signal,
    onEvent,
  }
  const spec = { method: 'GET', pathAndQuery: '/page', description: 'a page', hasResourceLimit } as const
  await request(requestContext, spec, () => {}).catch(() => {})
  return outcomes
}

test('records the outcome of every attempt, throttled and failed ones included', async () => {
  const statuses = [429, 503, 200]
  const outcomes = await outcomesOf((received) => ({ status: statuses[received] ?? 200 }))
  expect(outcomes.map(({ kind }) => kind)).toEqual(['throttled', 'failed', 'granted'])
})

test('records a broken connection as a failure', async () => {
  const outcomes = await outcomesOf(() => {
    throw new Error('broken')
  })
  expect(outcomes).toEqual([{ kind: 'failed', retryAfterMs: undefined }])
})

test('releases its permit when no further request may be sent', async () => {
  const onEvent = ({ kind }: { kind: string }) => {
    if (kind === 'sent') throw new Error('the budget is exhausted')
  }
  const outcomes = await outcomesOf(() => ({ status: 200 }), { onEvent })
  expect(outcomes).toEqual([{ kind: 'failed', retryAfterMs: undefined }])
})

test('does not report a limit of the requested resource as throttling', async () => {
  const outcomes = await outcomesOf(() => ({ status: 429, headers: { 'retry-after': '3600' } }), {
    hasResourceLimit: true,
  })
  expect(outcomes).toEqual([{ kind: 'failed', retryAfterMs: undefined }])
})
