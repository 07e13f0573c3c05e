import { expect, test } from 'vitest'
import { lineRangeOf } from '../../../src/transform/staged/page-index.ts'

const LINES = {
  start: 1_000,
  ends: Uint32Array.of(10, 10, 30, 60),
  rows: Uint32Array.of(1, 1, 3, 4),
  maxLineBytes: 30,
}

test.for([
  { first: 0, last: 0, start: 1_000, bytes: 10, rows: 1 },
  { first: 1, last: 1, start: 1_010, bytes: 0, rows: 0 },
  { first: 2, last: 3, start: 1_010, bytes: 50, rows: 3 },
  { first: 0, last: 3, start: 1_000, bytes: 60, rows: 4 },
])(
  'the lines of transactions $first to $last are $rows rows in $bytes bytes',
  ({ first, last, ...range }) => {
    expect(lineRangeOf(LINES, first, last)).toEqual({ ...range, maxLineBytes: 30 })
  },
)
