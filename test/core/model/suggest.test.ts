import { expect, test } from 'vitest'
import { suggest } from '../../../src/core/model/suggest.ts'

const KNOWN = ['chain', 'addresses', 'maxRowsPerFile', 'endBlock']

test.for([
  { word: 'chian', near: 'chain' },
  { word: 'adress', near: 'addresses' },
  { word: 'max_rows_per_file', near: 'maxRowsPerFile' },
  { word: 'END-BLOCK', near: 'endBlock' },
  { word: 'blockchain', near: undefined },
  { word: '', near: undefined },
  { word: 'x'.repeat(1_000), near: undefined },
])('finds $near nearest to the word $word', ({ word, near }) => {
  expect(suggest(word, KNOWN)).toBe(near)
})
