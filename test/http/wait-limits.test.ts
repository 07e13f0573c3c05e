import { expect, test } from 'vitest'
import { createWaitAnnouncer, startRunLimits } from '../../src/http/run-limits.ts'
import type { ExportError } from '../../src/index.ts'
import { clientOf, failureOf, startServer } from './server.ts'

const HOUR_MS = 3_600_000

test('announces a delay of hours once, and again only if it ends later', () => {
  const announce = createWaitAnnouncer()
  expect(announce(5_000)).toBeUndefined()
  expect(announce(6 * HOUR_MS)).toMatch(
    /^the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d UTC; no request is sent until then$/,
  )
  expect(announce(6 * HOUR_MS + 900)).toBeUndefined()
  expect(announce(7 * HOUR_MS)).toMatch(/until/)
})

test('a delay past the deadline aborts the command, one within it does not', () => {
  const limits = startRunLimits({ deadlineMs: 2 * HOUR_MS }, 'aborted')
  limits.checkWait(HOUR_MS)
  expect(limits.signal.aborted).toBe(false)
  limits.checkWait(3 * HOUR_MS)
  expect(limits.signal.reason).toMatchObject({
    code: 'BUDGET_REACHED',
    message: expect.stringMatching(/^the service asks to wait until .* UTC, past the deadline$/),
  })
  limits.end()
})

test.for([
  { status: 429, headers: { 'retry-after': '9999999999' } },
  { status: 503, headers: { 'retry-after': '86401' } },
  { status: 429, headers: { 'retry-after': `${'9'.repeat(300)}` } },
  { status: 429, headers: { 'ratelimit-reset': '100000' } },
])('aborts if the requested delay exceeds 24 hours: $status with $headers', async ({ status, headers }) => {
  const { url, received } = await startServer(() => ({ status, headers, body: { message: 'slow down' } }))
  const error = (await failureOf(clientOf(url).getChain({ chainId: '1' }))) as ExportError
  expect(error.code).toBe('RATE_LIMITED')
  expect(error.message).toMatch(
    /the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d UTC, more than 24 hours/,
  )
  expect(error.fix).toContain('it resumes')
  expect(received).toHaveLength(1)
})
