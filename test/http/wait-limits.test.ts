import { expect, test } from 'vitest'
import { startRunLimits } from '../../src/http/run-limits.ts'
import { createWaitAnnouncer } from '../../src/http/wait-limits.ts'
import type { ExportError } from '../../src/index.ts'
import { clientOf, failureOf, startServer } from './server.ts'

const HOUR_MS = 3_600_000

test('a wait of hours is announced once with its end, and again only where it ends later', () => {
  const notice = createWaitAnnouncer()
  expect(notice(5_000)).toBeUndefined()
  expect(notice(6 * HOUR_MS)).toMatch(
    /^the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d UTC; no request is sent before$/,
  )
  expect(notice(6 * HOUR_MS + 900)).toBeUndefined()
  expect(notice(7 * HOUR_MS)).toMatch(/until/)
})

test('a wait past the deadline ends the command at once, one within it does not', () => {
  const bounds = startRunLimits({ deadlineMs: 2 * HOUR_MS }, 'aborted')
  bounds.checkWait(HOUR_MS)
  expect(bounds.signal.aborted).toBe(false)
  bounds.checkWait(3 * HOUR_MS)
  expect(bounds.signal.reason).toMatchObject({
    code: 'BUDGET_REACHED',
    message: expect.stringMatching(/^the service asks to wait until .* UTC, past the deadline$/),
  })
  bounds.end()
})

test.for([
  { status: 429, headers: { 'retry-after': '9999999999' } },
  { status: 503, headers: { 'retry-after': '86401' } },
  { status: 429, headers: { 'retry-after': `${'9'.repeat(300)}` } },
  { status: 429, headers: { 'ratelimit-reset': '100000' } },
])('ends at a wait beyond all reason: $status with $headers', async ({ status, headers }) => {
  const { url, asked } = await startServer(() => ({ status, headers, body: { message: 'slow down' } }))
  const error = (await failureOf(clientOf(url).getChain({ chainId: '1' }))) as ExportError
  expect(error.code).toBe('RATE_LIMITED')
  expect(error.message).toMatch(
    /the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d UTC, more than 24 hours/,
  )
  expect(error.fix).toContain('it resumes')
  expect(asked).toHaveLength(1)
})
