import { expect, test } from 'vitest'
import {
  newLimiterState,
  nextSendAt,
  recordOutcome,
  send,
} from '../../../src/http/rate-limit/limiter-state.ts'

test.for([
  { resetMs: 1_000, due: 0, what: 'a reset within a second may be over at once' },
  { resetMs: 1_001, due: 1_101, what: 'a later reset is waited for' },
])('$what where nothing is left', ({ resetMs, due }) => {
  const limiter = newLimiterState(0)
  const [first, second] = [send(limiter, 0), send(limiter, 0)]
  const granted = { kind: 'granted', now: 100, random: () => 0.5 } as const
  recordOutcome(limiter, first, { ...granted, remaining: 0, resetMs })
  recordOutcome(limiter, second, { ...granted, remaining: undefined, resetMs: undefined })
  expect(nextSendAt(limiter)).toBe(due)
})
