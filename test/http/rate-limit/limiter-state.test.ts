import { expect, test } from 'vitest'
import { LOCAL_TUNING } from '../../../src/http/rate-limit/learned-rate.ts'
import {
  newLimiterState,
  nextSendAt,
  recordOutcome,
  send,
} from '../../../src/http/rate-limit/limiter-state.ts'

test.for([
  { resetMs: 1_000, due: 0, what: 'ignores a reset within one second' },
  { resetMs: 1_001, due: 1_101, what: 'waits for a later reset' },
])('$what if the remaining quota is 0', ({ resetMs, due }) => {
  const limiter = newLimiterState(0, LOCAL_TUNING)
  const [first, second] = [
    send(limiter, 0, { tuning: LOCAL_TUNING }),
    send(limiter, 0, { tuning: LOCAL_TUNING }),
  ]
  const granted = { kind: 'granted', now: 100, random: () => 0.5 } as const
  recordOutcome(limiter, first, { ...granted, remaining: 0, resetMs })
  recordOutcome(limiter, second, { ...granted, remaining: undefined, resetMs: undefined })
  expect(nextSendAt(limiter)).toBe(due)
})
