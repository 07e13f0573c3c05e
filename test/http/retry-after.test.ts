import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../src/http/read-outcome.ts'

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
])('reads the Retry-After "$header" as $means ms', ({ header, means }) => {
  expect(parseRetryAfter(header, now)).toBe(means)
})
