import { expect, test } from 'vitest'
import { chooseFormat } from '../../src/cli/result-file.ts'

const STATEMENT = { formats: ['table', 'csv', 'json', 'xlsx'], fallback: 'table' } as const
const CSV_ONLY = { formats: ['csv'], fallback: 'csv' } as const
const JOURNAL = { formats: [], fallback: 'csv', allowsAnyEnding: true } as const

test.for([
  { file: 'a.CSV', options: STATEMENT, format: 'csv' },
  { file: 'a.xlsx', options: STATEMENT, format: 'xlsx' },
  { file: 'a.b/2024', options: STATEMENT, format: 'table' },
  { file: 'a.txt', options: STATEMENT, format: 'table' },
  { file: 'a.tsv', options: { ...STATEMENT, given: 'csv' as const }, format: 'csv' },
  { file: undefined, options: STATEMENT, format: 'table' },
  { file: 'prices', options: CSV_ONLY, format: 'csv' },
  { file: 'books.dat', options: JOURNAL, format: 'csv' },
])('the format of $file is $format', ({ file, options, format }) => {
  expect(chooseFormat<'table' | 'csv' | 'json' | 'xlsx'>(file, options)).toBe(format)
})

test.for([
  { file: 'a.ods', options: STATEMENT, says: 'no ODS file', fix: '.csv or .json or .xlsx' },
  { file: 'a.xls', options: { ...STATEMENT, given: 'xlsx' as const }, says: 'no XLS file', fix: '.xlsx' },
  { file: 'a.tsv', options: STATEMENT, says: 'a.tsv ends in .tsv, which names no format', fix: '.xlsx' },
  { file: 'a.txt', options: CSV_ONLY, says: 'a.txt ends in .txt, which names no format', fix: '.csv' },
  { file: 'a.ods', options: JOURNAL, says: 'no ODS file', fix: 'Name a file' },
])('$file is refused: $says', ({ file, options, says, fix }) => {
  const choose = () => chooseFormat<'table' | 'csv' | 'json' | 'xlsx'>(file, options)
  expect(choose).toThrow(
    expect.objectContaining({
      code: 'USAGE',
      message: expect.stringContaining(says),
      fix: expect.stringContaining(fix),
    }),
  )
})
