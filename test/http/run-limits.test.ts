import { expect, test } from 'vitest'
import { startRunLimits } from '../../src/http/run-limits.ts'

test.for([
  { maxRequests: 1, says: 'the budget of 1 request is reached' },
  { maxRequests: 2, says: 'the budget of 2 requests is reached' },
])('a budget of $maxRequests lets as many requests leave and then says so', ({ maxRequests, says }) => {
  const bounds = startRunLimits({ maxRequests }, 'aborted')
  for (let sent = 0; sent < maxRequests; sent += 1) bounds.countRequest()
  expect(bounds.countRequest).toThrow(expect.objectContaining({ code: 'BUDGET_REACHED', message: says }))
  bounds.end()
})
