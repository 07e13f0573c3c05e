import { expect, test } from 'vitest'
import { describeRequest } from '../../src/http/request.ts'

test('the log states delays in whole milliseconds', () => {
  expect(describeRequest({ kind: 'throttled', waitMs: 999.565699 })).toBe(
    '429, all requests pause for 1000 ms',
  )
})
