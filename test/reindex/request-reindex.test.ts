import { expect, test } from 'vitest'
import { ExportError, type ExportErrorOptions, type FailureCode } from '../../src/core/model/errors.ts'
import type { LoggedRequest, Token } from '../../src/reindex/request-log.ts'
import { type ReindexTools, requestReindexOfAll } from '../../src/reindex/request-reindex.ts'

const HOUR_MS = 3_600_000

async function* tokens(count: number): AsyncGenerator<Token, void, void> {
  for (let at = 0; at < count; at += 1) yield { address: '0xa', id: String(at) }
}

/** Requests a few tokens one after the other. The first one fails with the given error, if any. */
async function requestTokens(
  first: { code: FailureCode; about?: ExportErrorOptions } | undefined,
  given: Partial<ReindexTools> & { count?: number } = {},
) {
  const { count = 2, ...tools } = given
  const entries: LoggedRequest[] = []
  const pauses: number[] = []
  const sent: string[] = []
  const result = await requestReindexOfAll(tokens(count), {
    reindex: async ({ id }) => {
      sent.push(id)
      if (id === '0' && first !== undefined) throw new ExportError(first.code, 'said so', first.about)
    },
    wait: async (ms) => void pauses.push(ms),
    record: async (entry) => void entries.push(entry),
    now: () => 1_000,
    concurrency: 1,
    ...tools,
  })
  const last = (id: string) => entries.findLast((entry) => entry.id === id)
  return { ...result, pauses, sent, last }
}

test('requests every token once and blocks it for an hour', async () => {
  const { counts, sent, last, error } = await requestTokens(undefined, { count: 40, concurrency: 7 })
  expect(counts).toEqual({ accepted: 40, limited: 0, unknown: 0, refused: 0, unanswered: 0 })
  expect(new Set(sent).size).toBe(40)
  expect(last('39')).toMatchObject({ answer: 'accepted', atMs: 1_000, untilMs: 1_000 + HOUR_MS })
  expect(error).toBeUndefined()
})

test('logs a request before it is sent', async () => {
  const order: string[] = []
  await requestTokens(undefined, {
    count: 1,
    record: async ({ answer }) => void order.push(answer),
    reindex: async () => void order.push('request'),
  })
  expect(order).toEqual(['pending', 'request', 'accepted'])
})

test.for([
  { answer: 'limited', code: 'RATE_LIMITED', about: { status: 429, retryAfterMs: 90_000 }, until: 91_000 },
  { answer: 'limited', code: 'RATE_LIMITED', about: { status: 429 }, until: 1_000 + HOUR_MS },
  {
    answer: 'limited',
    code: 'RATE_LIMITED',
    about: { retryAfterMs: 1e12 },
    until: 1_000 + 24 * HOUR_MS,
  },
  { answer: 'unknown', code: 'REQUEST_REFUSED', about: { status: 404 }, until: 1_000 + HOUR_MS },
  { answer: 'refused', code: 'REQUEST_REFUSED', about: { status: 400 }, until: 1_000 + HOUR_MS },
] as const)(
  'continues after $code ($about) and blocks the token until $until',
  async ({ answer, code, about, until }) => {
    const { counts, last, error, messages } = await requestTokens({ code, about })
    expect(counts).toEqual({ accepted: 1, limited: 0, unknown: 0, refused: 0, unanswered: 0, [answer]: 1 })
    expect(last('0')).toMatchObject({ answer, untilMs: until })
    expect(error).toBeUndefined()
    expect(messages).toEqual(answer === 'limited' ? [] : ['said so'])
  },
)

test.for([
  { retryAfterMs: 20_000, pauses: [20_000] },
  { retryAfterMs: 60_001, pauses: [] },
  { retryAfterMs: undefined, pauses: [1_000] },
])('pauses for $pauses after a 429 with retryAfterMs $retryAfterMs', async ({ retryAfterMs, pauses }) => {
  const about = retryAfterMs === undefined ? {} : { retryAfterMs }
  expect((await requestTokens({ code: 'RATE_LIMITED', about })).pauses).toEqual(pauses)
})

test.for(['KEY_REFUSED', 'SERVICE_UNAVAILABLE', 'INTERRUPTED', 'BUDGET_REACHED'] as const)(
  'stops at %s and requests no further token',
  async (code) => {
    const { error, sent, counts } = await requestTokens({ code })
    expect(error).toMatchObject({ code })
    expect(sent).toEqual(['0'])
    expect(counts.accepted).toBe(0)
  },
)

test.for([
  { when: 'was certainly not sent', about: {}, answer: 'unsent', until: 1_000 },
  {
    when: 'may have been processed',
    about: { mayHaveActed: true },
    answer: 'pending',
    until: 1_000 + HOUR_MS,
  },
])('logs a request that exceeds the budget and $when', async ({ about, answer, until }) => {
  const { last } = await requestTokens({ code: 'BUDGET_REACHED', about })
  expect(last('0')).toMatchObject({ answer, untilMs: until })
})

test.for([
  { code: 'KEY_REFUSED', about: { status: 401 }, answer: 'unsent', until: 1_000, unanswered: 0 },
  { code: 'KEY_REFUSED', about: { status: 403 }, answer: 'unsent', until: 1_000, unanswered: 0 },
  {
    code: 'SERVICE_UNAVAILABLE',
    about: { mayHaveActed: true },
    answer: 'pending',
    until: 1_000 + HOUR_MS,
    unanswered: 1,
  },
] as const)('logs $answer after $code ($about)', async ({ code, about, answer, until, unanswered }) => {
  const { counts, last } = await requestTokens({ code, about })
  expect(last('0')).toMatchObject({ answer, untilMs: until })
  expect(counts.unanswered).toBe(unanswered)
})

test('stops before the request if the log cannot be written', async () => {
  const record = () => Promise.reject(new ExportError('OUTPUT_FAILED', 'full'))
  const { error, sent } = await requestTokens(undefined, { record })
  expect(error).toMatchObject({ code: 'OUTPUT_FAILED' })
  expect(sent).toEqual([])
})

test('requests no token during a pause', async () => {
  let over = () => {}
  const pause = new Promise<void>((resolve) => (over = resolve))
  const sent: string[] = []
  const requesting = requestTokens(undefined, {
    count: 3,
    wait: () => pause,
    reindex: async ({ id }) => {
      sent.push(id)
      if (id === '0') throw new ExportError('RATE_LIMITED', 'said so', { retryAfterMs: 10 })
    },
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toEqual(['0'])
  over()
  expect((await requesting).counts).toMatchObject({ accepted: 2, limited: 1 })
})
