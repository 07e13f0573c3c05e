import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOwnDatabase } from '../../src/core/duckdb/own-database.ts'
import { type Cell, col } from '../../src/core/table/column.ts'
import type { Table } from '../../src/core/table/index.ts'
import { type ChangedBlock, compareTable } from '../../src/files/compare-table.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { MAX_U256, type Row, SAMPLE } from './tables.ts'
import { type Written, writeRows } from './write-rows.ts'

const TABLE: Table = { ...SAMPLE, columns: [col('block_number int64', 'Block.'), ...SAMPLE.columns] }
const rowOf = (block: number, cells: Record<string, Cell> = {}): Row => ({
  block_number: BigInt(block),
  ...cells,
})

type Sides = { before: readonly Row[][]; after: readonly Row[][]; range?: { from: number; to: number } }

/** Writes each list of rows to a separate file in a folder whose name contains glob characters, and compares both sides. */
async function compare({ before, after, range = { from: 0, to: 1_000 } }: Sides, written: Written = {}) {
  const folder = join(tempFolder(), 'a*[b]?')
  const write = async (side: string, files: readonly Row[][]) => {
    const paths: string[] = []
    for (const [at, rows] of files.entries()) {
      const place = join(folder, `${side}-${at}`)
      mkdirSync(place, { recursive: true })
      const compression = written.compression ?? (at % 2 === 0 ? 'none' : 'gzip')
      const parts = await writeRows([rows], { ...written, compression, table: TABLE, folder: place })
      paths.push(...parts.map(({ staged }) => staged))
    }
    return paths
  }
  const files = { before: await write('before', before), after: await write('after', after) }
  const { signal } = new AbortController()
  const format = written.format ?? 'csv'
  const found: ChangedBlock[] = []
  const { connection, close } = await openOwnDatabase({ memory: '160MB', spillFolder: join(folder, 'spill') })
  for await (const block of compareTable({
    table: TABLE,
    format,
    ...files,
    range,
    connection,
    folder,
    signal,
  }))
    found.push(block)
  await close()
  const parsed = (rows: string[]) => rows.map((row) => JSON.parse(row) as Record<string, unknown>)
  return found.map(({ removed, added }) => ({ removed: parsed(removed), added: parsed(added) }))
}

const cellsOf = (block: number, cells: Record<string, unknown>) => ({
  block_number: block,
  ...Object.fromEntries(SAMPLE.columns.map(({ name }) => [name, null])),
  ...cells,
})

const HOSTILE = ['"', 'a,b', 'two\nlines', 'two\r\nlines', '\u2028', 'NULL', 'é', '\\n', ' ', '\u0000', '😀']

test.for([
  { format: 'csv', compression: undefined },
  { format: 'parquet', compression: 'zstd' },
] as const)('a changed cell of any type is listed in $format', async ({ format, compression }) => {
  const cells = { name: 'a', small: -1, wide: 9_007_199_254_740_993n, yes: true, at: 1_699_999_999_123 }
  const whole = { ...cells, huge: MAX_U256, signed: '-5', exact: '1.5' }
  const text = { ...whole, wide: 9_007_199_254_740_992, at: '2023-11-14T22:13:19.123Z' }
  const others = { name: 'b', small: 0, wide: 1n, yes: false, at: 0, huge: '1', signed: '5', exact: '1.05' }
  for (const [name, value] of Object.entries(others)) {
    const sides = {
      before: [[rowOf(1), rowOf(7, whole)]],
      after: [[rowOf(1), rowOf(7, { ...whole, [name]: value })]],
    }
    const found = await compare(sides, { format, ...(compression === undefined ? {} : { compression }) })
    const listedValue =
      name === 'at' ? '1970-01-01T00:00:00.000Z' : typeof value === 'bigint' ? Number(value) : value
    expect(found).toEqual([
      { removed: [cellsOf(7, text)], added: [cellsOf(7, { ...text, [name]: listedValue })] },
    ])
  }
})

test.for(['csv', 'parquet'] as const)('text of any kind is kept unchanged in %s', async (format) => {
  const rows = HOSTILE.map((name) => rowOf(3, { name }))
  const compression = format === 'parquet' ? { compression: 'zstd' as const } : {}
  const found = await compare({ before: [[]], after: [rows] }, { format, ...compression })
  expect(found).toEqual([{ removed: [], added: HOSTILE.map((name) => cellsOf(3, { name })) }])
})

test('rows are in file order and blocks in chain order', async () => {
  const rows = (names: string, block: number) => [...names].map((name) => rowOf(block, { name }))
  const sides = {
    before: [rows('zya', 2), [...rows('b', 10), ...rows('kc', 11)]],
    after: [[...rows('yxa', 2), ...rows('b', 10)], rows('mlck', 11), rows('q', 12)],
  }
  const found = await compare(sides)
  const names = found.map((block) =>
    [block.removed, block.added].map((side) => side.map(({ name }) => name).join('')),
  )
  expect(names).toEqual([
    ['z', 'x'],
    ['', 'ml'],
    ['', 'q'],
  ])
})

test('more rows than one batch are listed without a gap', async () => {
  const blocks = Array.from({ length: 4_200 }, (_, at) => Math.floor(at / 3) + 1)
  const rows = (name: string) => blocks.map((block, at) => rowOf(block, { name: `${name} ${at}` }))
  const found = await compare({
    before: [rows('old')],
    after: [rows('new')],
    range: { from: 0, to: 2_000 },
  })
  expect(found).toHaveLength(1_400)
  expect(found.flatMap(({ removed }) => removed.map(({ name }) => name))).toEqual(
    blocks.map((_, at) => `old ${at}`),
  )
  expect(found.flatMap(({ added }) => added)).toHaveLength(4_200)
})

testSample(
  0,
  ['none', 'gzip'] as const,
  'rows of 20 MiB are compared, compressed with %s',
  async (compression) => {
    const picture = (color: string) =>
      `<svg fill="${color}">${',\n'.repeat(500_000)}${'x'.repeat(20_000_000)}</svg>`
    const sides = {
      before: [
        [rowOf(1, { name: 'a' }), rowOf(2, { name: picture('red') }), rowOf(3, { name: picture('red') })],
      ],
      after: [
        [rowOf(1, { name: 'a' }), rowOf(2, { name: picture('red') }), rowOf(3, { name: picture('green') })],
      ],
    }
    const found = await compare(sides, { compression })
    expect(found).toHaveLength(1)
    expect(found[0]?.removed[0]?.name === picture('red')).toBe(true)
    expect(found[0]?.added[0]?.name === picture('green')).toBe(true)
  },
)

test('a row that occurred twice and then once was removed once', async () => {
  const twin = rowOf(5, { name: 'twin' })
  expect(await compare({ before: [[twin], [twin]], after: [[twin]] })).toEqual([
    { removed: [cellsOf(5, { name: 'twin' })], added: [] },
  ])
})

test('rows of other blocks and the distribution over files are ignored', async () => {
  const rows = [3, 4, 5, 6, 7].map((block) => rowOf(block, { name: `at ${block}` }))
  const before = [[rowOf(3)], rows.slice(1, 3), rows.slice(3, 4), [rowOf(7)]]
  expect(await compare({ before, after: [rows], range: { from: 4, to: 7 } })).toEqual([])
  expect(await compare({ before, after: [rows], range: { from: 4, to: 8 } })).toHaveLength(1)
})

test('a damaged or missing file is reported with a fix', async () => {
  const { signal } = new AbortController()
  const comparison = {
    table: TABLE,
    format: 'csv',
    range: { from: 0, to: 9 },
    connection: (await openOwnDatabase({ memory: '160MB', spillFolder: tempFolder() })).connection,
    folder: tempFolder(),
    signal,
  } as const
  const found = compareTable({ ...comparison, before: ['/nowhere/at-all.csv'], after: [] }).next()
  await expect(found).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('cannot compare ledger'),
    fix: expect.stringContaining('--fresh'),
  })
})
