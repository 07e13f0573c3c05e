import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTableWriter, type TableWriterOptions } from '../../src/write/table-writer.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { SAMPLE, sample } from './tables.ts'

function writer(options: Partial<TableWriterOptions> = {}) {
  return createTableWriter({
    table: SAMPLE,
    folder: tempFolder(),
    range: { from: 5, to: 1_234_567 },
    format: 'csv',
    compression: 'none',
    maxRowsPerFile: 3,
    escapeFormulas: true,
    ...options,
  })
}

const rowsFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, at) => sample({ small: start + at }))

/** The numbers in the rows of a CSV part. */
function numbersIn(path: string): number[] {
  const [, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => Number(line.split(',')[1]))
}

test('a table rolls to its next file at the most rows', async () => {
  const table = writer()
  await table.write(rowsFrom(0, 2))
  await table.write(rowsFrom(2, 6))
  const parts = await table.finish()
  expect(parts.map(({ path, rows, fromBlock, toBlock }) => ({ path, rows, fromBlock, toBlock }))).toEqual(
    [3, 3, 2].map((rows, at) => ({
      path: `ledger/ledger-000000000005-000001234567-000${at}.csv`,
      rows,
      fromBlock: 5,
      toBlock: 1_234_567,
    })),
  )
  expect(parts.map(({ staged }) => numbersIn(staged))).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('a table that ends with a full file has no empty one', async () => {
  const table = writer()
  await table.write(rowsFrom(0, 6))
  expect((await table.finish()).map(({ rows }) => rows)).toEqual([3, 3])
})

test('a table without rows has one file with a header', async () => {
  const [part, ...others] = await writer().finish()
  expect(others).toEqual([])
  expect(part?.rows).toBe(0)
  expect(readFileSync(part?.staged ?? '', 'utf8')).toBe('name,small,wide,yes,at,huge,signed,exact\n')
})

test.for([
  { format: 'csv', compression: 'none', ending: 'csv' },
  { format: 'csv', compression: 'gzip', ending: 'csv.gz' },
  { format: 'parquet', compression: 'zstd', ending: 'parquet' },
  { format: 'parquet', compression: 'gzip', ending: 'parquet' },
] as const)('a $format file with $compression compression ends in $ending', async ({ ending, ...how }) => {
  const folder = tempFolder()
  const [part] = await writer({ folder, ...how }).finish()
  const name = `ledger-000000000005-000001234567-0000.${ending}`
  expect(part).toMatchObject({ path: `ledger/${name}`, staged: join(folder, name) })
})

test('however rows arrive, the files are the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(7), { maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (sizes, most) => {
        const table = writer({ maxRowsPerFile: most })
        let total = 0
        for (const size of sizes) {
          await table.write(rowsFrom(total, size))
          total += size
        }
        const parts = await table.finish()
        expect(parts).toHaveLength(Math.max(1, Math.ceil(total / most)))
        expect(parts.slice(0, -1).every(({ rows }) => rows === most)).toBe(true)
        expect(parts.flatMap(({ staged }) => numbersIn(staged))).toEqual(
          Array.from({ length: total }, (_, at) => at),
        )
      },
    ),
    { numRuns: 50 },
  )
})
