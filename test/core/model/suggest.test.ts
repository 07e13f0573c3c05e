import { expect, test } from 'vitest'
import { suggest } from '../../../src/core/model/suggest.ts'

const KNOWN = ['chain', 'addresses', 'maxRowsPerFile', 'endBlock']

test.for([
  { word: 'chian', suggestion: 'chain' },
  { word: 'adress', suggestion: 'addresses' },
  { word: 'max_rows_per_file', suggestion: 'maxRowsPerFile' },
  { word: 'END-BLOCK', suggestion: 'endBlock' },
  { word: 'blockchain', suggestion: undefined },
  { word: '', suggestion: undefined },
  { word: 'x'.repeat(1_000), suggestion: undefined },
])('suggests $suggestion for $word', ({ word, suggestion }) => {
  expect(suggest(word, KNOWN)).toBe(suggestion)
})
