import { expect, test } from 'vitest'
import { delayBeforeRetry, parseRetryAfter, RETRY_DEFAULTS } from '../../src/http/retry.ts'

const highest = () => 1
const lowest = () => 0

test.for([
  { when: 'the first attempt failed', failures: 1, retryAfterMs: undefined, random: highest, waits: 500 },
  { when: 'the third attempt failed', failures: 3, retryAfterMs: undefined, random: highest, waits: 2_000 },
  { when: 'the jitter is lowest', failures: 3, retryAfterMs: undefined, random: lowest, waits: 0 },
  {
    when: 'the jitter is in the middle',
    failures: 2,
    retryAfterMs: undefined,
    random: () => 0.5,
    waits: 500,
  },
  {
    when: 'the delay reaches its maximum',
    failures: 7,
    retryAfterMs: undefined,
    random: highest,
    waits: 30_000,
  },
  {
    when: 'there were thousands of attempts',
    failures: 5_000,
    retryAfterMs: undefined,
    random: highest,
    waits: 30_000,
  },
  { when: 'Retry-After says 7 s', failures: 1, retryAfterMs: 7_000, random: lowest, waits: 7_000 },
  {
    when: 'Retry-After exceeds the maximum',
    failures: 1,
    retryAfterMs: 90_000,
    random: lowest,
    waits: 90_000,
  },
  { when: 'Retry-After says 0', failures: 6, retryAfterMs: 0, random: highest, waits: 0 },
])('waits $waits ms when $when', ({ failures, retryAfterMs, random, waits }) => {
  expect(delayBeforeRetry({ failures, retryAfterMs }, RETRY_DEFAULTS, random)).toBe(waits)
})

const now = Date.UTC(2026, 0, 1, 12, 0, 0)

test.for([
  { header: undefined, means: undefined },
  { header: '0', means: 0 },
  { header: ' 7 ', means: 7_000 },
  { header: '1.5', means: 1_500 },
  { header: 'Thu, 01 Jan 2026 12:00:30 GMT', means: 30_000 },
  { header: 'Thursday, 01-Jan-26 12:00:30 GMT', means: 30_000 },
  { header: 'Thu Jan  1 12:00:30 2026', means: 30_000 },
  { header: 'Thu, 01 Jan 2026 11:00:00 GMT', means: 0 },
  { header: '', means: undefined },
  { header: 'soon', means: undefined },
  { header: '-1', means: undefined },
  { header: '1,5', means: undefined },
  { header: 'retry 7', means: undefined },
  { header: '99:99:99', means: undefined },
])('parses the Retry-After "$header" as $means ms', ({ header, means }) => {
  expect(parseRetryAfter(header, now)).toBe(means)
})
