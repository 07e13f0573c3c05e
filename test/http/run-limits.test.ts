import { expect, test } from 'vitest'
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
