import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Part } from '../../src/files/write-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { type Row, SAMPLE, sample } from './tables.ts'
import { cutAt, type Written, writeRows } from './write-rows.ts'

const HEADER = 'name,small,wide,yes,at,huge,signed,exact\n'
const rowsFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, at) => sample({ small: start + at }))
const textOf = ({ staged }: Part) => readFileSync(staged, 'utf8')

/** Reads the numbers from the rows of a CSV part. */
function numbersIn(part: Part): number[] {
  const [header, ...lines] = textOf(part).trimEnd().split('\n')
  expect(`${header}\n`).toBe(HEADER)
  return lines.map((line) => Number(line.split(',')[1]))
}

test('a table starts a new file at the maximum number of rows', async () => {
  const parts = await writeRows([rowsFrom(0, 2), rowsFrom(2, 6)], { maxRowsPerFile: 3 })
  expect(parts.map(({ path, rows, fromBlock, toBlock }) => ({ path, rows, fromBlock, toBlock }))).toEqual(
    [3, 3, 2].map((rows, at) => ({
      path: `ledger/ledger-000000000005-000001234567-000${at}.csv`,
      rows,
      fromBlock: 5,
      toBlock: 1_234_567,
    })),
  )
  expect(parts.map(numbersIn)).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ])
})

test('a table that ends with a full file has no empty file', async () => {
  const parts = await writeRows([rowsFrom(0, 6), []], { maxRowsPerFile: 3 })
  expect(parts.map(({ rows }) => rows)).toEqual([3, 3])
})

test.for([{ chunks: [] }, { chunks: [[], []] }])(
  'a table without rows has one file with a header',
  async ({ chunks }) => {
    const [part, ...others] = await writeRows(chunks)
    expect(others).toEqual([])
    expect(part?.rows).toBe(0)
    expect(readFileSync(part?.staged ?? '', 'utf8')).toBe(HEADER)
  },
)

test.for([
  { format: 'csv', compression: 'none', ending: 'csv' },
  { format: 'csv', compression: 'gzip', ending: 'csv.gz' },
  { format: 'parquet', compression: 'zstd', ending: 'parquet' },
  { format: 'parquet', compression: 'gzip', ending: 'parquet' },
] as const)(
  'a $format file with $compression compression has the extension $ending',
  async ({ ending, ...how }) => {
    const folder = tempFolder()
    const [part] = await writeRows([rowsFrom(0, 1)], { folder, ...how })
    const name = `ledger-000000000005-000001234567-0000.${ending}`
    expect(part).toMatchObject({ path: `ledger/${name}`, staged: join(folder, name) })
  },
)

test('parts have their measured size and hash, and their chunks are removed', async () => {
  for (const compression of ['none', 'gzip'] as const) {
    const folder = tempFolder()
    const parts = await writeRows([rowsFrom(0, 5), rowsFrom(5, 4)], {
      folder,
      compression,
      maxRowsPerFile: 4,
    })
    for (const { staged, bytes, sha256 } of parts) {
      const content = readFileSync(staged)
      expect(content).toHaveLength(bytes)
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256)
    }
    expect(readdirSync(folder)).toEqual(parts.map(({ staged }) => basename(staged)))
  }
})

const cells = fc.record({
  name: fc.option(fc.string({ unit: fc.constantFrom(...'ab",\n\r\\\'=😀') })),
  small: fc.nat(9),
})
const cutRows = fc.array(cells, { maxLength: 30 }).chain((rows) =>
  fc.record({
    rows: fc.constant(rows.map(sample)),
    cuts: fc.array(fc.nat(rows.length), { maxLength: 6 }),
    maxRowsPerFile: fc.integer({ min: 1, max: 12 }),
  }),
)
const bytesOf = (parts: readonly Part[]) =>
  parts.map(({ path, rows, staged }) => [path, rows, readFileSync(staged).toString('latin1')])

const CHUNKED = [
  { format: 'csv', compression: 'none', numRuns: 40 },
  { format: 'csv', compression: 'gzip', numRuns: 20 },
  { format: 'parquet', compression: 'zstd', numRuns: 4 },
  { format: 'csv', compression: 'none', numRuns: 150 },
  { format: 'csv', compression: 'gzip', numRuns: 100 },
] as const
testSample(
  3,
  CHUNKED,
  '$format with $compression is the same however rows are chunked: $numRuns runs',
  async ({ numRuns, ...how }) => {
    await fc.assert(
      fc.asyncProperty(cutRows, async ({ rows, cuts, maxRowsPerFile }) => {
        const whole = await writeRows([rows], { ...how, maxRowsPerFile })
        const cut = await writeRows(cutAt(rows, cuts), { ...how, maxRowsPerFile })
        expect(bytesOf(cut)).toEqual(bytesOf(whole))
        expect(whole).toHaveLength(Math.max(1, Math.ceil(rows.length / maxRowsPerFile)))
        expect(whole.slice(0, -1).every((part) => part.rows === maxRowsPerFile)).toBe(true)
      }),
      { numRuns },
    )
  },
)

test('files contain every row once and in order, however rows are chunked', async () => {
  await fc.assert(
    fc.asyncProperty(cutRows, async ({ rows, cuts, maxRowsPerFile }) => {
      const numbered = rows.map((_, at) => sample({ small: at }))
      const parts = await writeRows(cutAt(numbered, cuts), { maxRowsPerFile })
      expect(parts.flatMap(numbersIn)).toEqual(rows.map((_, at) => at))
    }),
    { numRuns: 50 },
  )
})

const many: readonly Row[] = Array.from({ length: 40_000 }, (_, at) =>
  sample({ name: `row ${at}${at % 7 === 0 ? ',\n"x"' : ''}`, small: at }),
)

test('a long table has the same gzip bytes however rows are chunked', async () => {
  const hash = async (cuts: number[], how: Written) => (await writeRows(cutAt(many, cuts), how))[0]?.sha256
  const whole = await hash([], { compression: 'gzip' })
  for (const cuts of [[1], [20_000], [5, 6, 7, 39_999], [9_999, 19_999, 29_999]])
    expect(await hash(cuts, { compression: 'gzip' })).toBe(whole)
})

test('a gzip file decompresses to the plain file', async () => {
  const [packed] = await writeRows([many], { compression: 'gzip' })
  const [plain] = await writeRows([many])
  expect(gunzipSync(readFileSync(packed?.staged ?? '')).equals(readFileSync(plain?.staged ?? ''))).toBe(true)
})

test.for(['csv', 'parquet'] as const)(
  'a %s file that cannot be created fails with OUTPUT_FAILED',
  async (format) => {
    const folder = join(tempFolder(), 'missing')
    const compression = format === 'csv' ? 'gzip' : 'zstd'
    const writing = writeRows([], { folder, format, compression, table: SAMPLE })
    await expect(writing).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  },
)
