import { expect, test } from 'vitest'
import { dueAt, leave, newPace, settle } from '../../../src/http/rate-limit/limiter-state.ts'

test.for([
  { resetMs: 1_000, due: 0, what: 'a reset within a second may be over at once' },
  { resetMs: 1_001, due: 1_101, what: 'a later reset is waited for' },
])('$what where nothing is left', ({ resetMs, due }) => {
  const pace = newPace(0)
  const [first, second] = [leave(pace, 0), leave(pace, 0)]
  const granted = { kind: 'granted', now: 100, dice: () => 0.5 } as const
  settle(pace, first, { ...granted, remaining: 0, resetMs })
  settle(pace, second, { ...granted, remaining: undefined, resetMs: undefined })
  expect(dueAt(pace)).toBe(due)
})
