import { expect, test, vi } from 'vitest'
import { startRunLimits } from '../../src/http/run-limits.ts'

test.for([
  { maxRequests: 1, says: 'the limit of 1 request is reached' },
  { maxRequests: 2, says: 'the limit of 2 requests is reached' },
])('a limit of $maxRequests allows as many requests and then throws', ({ maxRequests, says }) => {
  const limits = startRunLimits({ maxRequests }, 'aborted')
  for (let sent = 0; sent < maxRequests; sent += 1) limits.countRequest()
  expect(limits.countRequest).toThrow(expect.objectContaining({ code: 'BUDGET_REACHED', message: says }))
  limits.end()
})

test('a deadline does not depend on the wall clock', () => {
  const limits = startRunLimits({ deadlineMs: 60_000 }, 'aborted')
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 86_400_000)
  limits.checkWait(1_000)
  clock.mockRestore()
  expect(limits.signal.aborted).toBe(false)
  limits.checkWait(61_000)
  expect(limits.signal.aborted).toBe(true)
  limits.end()
})
