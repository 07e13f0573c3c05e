import { expect, test } from 'vitest'
import { delayBeforeRetry, RETRY_POLICIES, retry } from '../../../src/core/platform/retry.ts'

const highest = () => 1
const lowest = () => 0

test.for([
  { when: 'the first attempt failed', failures: 1, retryAfterMs: undefined, random: highest, waits: 500 },
  { when: 'the third attempt failed', failures: 3, retryAfterMs: undefined, random: highest, waits: 2_000 },
  { when: 'the random number is 0', failures: 3, retryAfterMs: undefined, random: lowest, waits: 0 },
  { when: 'the random number is 0.5', failures: 2, retryAfterMs: undefined, random: () => 0.5, waits: 500 },
  {
    when: 'the delay would exceed its upper bound',
    failures: 7,
    retryAfterMs: undefined,
    random: highest,
    waits: 30_000,
  },
  {
    when: 'thousands of attempts failed',
    failures: 5_000,
    retryAfterMs: undefined,
    random: highest,
    waits: 30_000,
  },
  { when: 'Retry-After is 7 s', failures: 1, retryAfterMs: 7_000, random: lowest, waits: 7_000 },
  {
    when: 'Retry-After exceeds the upper bound',
    failures: 1,
    retryAfterMs: 90_000,
    random: lowest,
    waits: 90_000,
  },
  { when: 'Retry-After is 0', failures: 6, retryAfterMs: 0, random: highest, waits: 0 },
])('waits $waits ms when $when', ({ failures, retryAfterMs, random, waits }) => {
  expect(delayBeforeRetry({ failures, retryAfterMs }, RETRY_POLICIES.request, random)).toBe(waits)
})

const immediate = { retries: 2, firstDelayMs: 0, maxDelayMs: 0 }

/** Work that fails this many times and then returns the number of its attempts. */
function failing(times: number) {
  let attempts = 0
  return async () => {
    attempts += 1
    if (attempts <= times) throw new Error(`attempt ${attempts}`)
    return attempts
  }
}

test('retries as often as the policy says', async () => {
  expect(await retry(immediate, failing(2), { isRetryable: () => true })).toBe(3)
})

test('throws the error of the last attempt', async () => {
  await expect(retry(immediate, failing(3), { isRetryable: () => true })).rejects.toThrow('attempt 3')
})

test('throws an error that may not be retried immediately', async () => {
  await expect(retry(immediate, failing(1), { isRetryable: () => false })).rejects.toThrow('attempt 1')
})

test('a signal ends the wait before a retry', async () => {
  const controller = new AbortController()
  const isRetryable = () => {
    controller.abort(new Error('stopped'))
    return true
  }
  const slow = { retries: 2, firstDelayMs: 1_000_000, maxDelayMs: 1_000_000 }
  const retried = retry(slow, failing(3), { isRetryable, signal: controller.signal })
  await expect(retried).rejects.toThrow('stopped')
})
