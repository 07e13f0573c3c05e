import { expect, test } from 'vitest'
import { startBounds } from '../../src/http/run-limits.ts'

test.for([
  { maxRequests: 1, says: 'the budget of 1 request is reached' },
  { maxRequests: 2, says: 'the budget of 2 requests is reached' },
])('a budget of $maxRequests lets as many requests leave and then says so', ({ maxRequests, says }) => {
  const bounds = startBounds({ maxRequests }, 'aborted')
  for (let sent = 0; sent < maxRequests; sent += 1) bounds.spend()
  expect(bounds.spend).toThrow(expect.objectContaining({ code: 'BUDGET_REACHED', message: says }))
  bounds.end()
})
