import { expect, test } from 'vitest'
import { bytesAhead } from '../../../src/assemble/staged/read-staged.ts'

test.for([
  { overlap: 0, tables: 1, bytes: 16_000_000 },
  { overlap: 1, tables: 7, bytes: 2_285_715 },
  { overlap: 200, tables: 7, bytes: 11_429 },
  { overlap: 558, tables: 7, bytes: 4_097 },
  { overlap: 559, tables: 7, bytes: 0 },
  { overlap: 20_000, tables: 7, bytes: 0 },
])('of $overlap open pages and $tables tables $bytes bytes each are read ahead', ({ bytes, ...open }) => {
  expect(bytesAhead(open)).toBe(bytes)
})
