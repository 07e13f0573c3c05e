import { expect, test } from 'vitest'
import { describeRequest } from '../../src/http/request-events.ts'

test('a wait is told in whole milliseconds', () => {
  expect(describeRequest({ kind: 'throttled', waitMs: 999.565699 })).toBe('429, everything waits 1000 ms')
})
