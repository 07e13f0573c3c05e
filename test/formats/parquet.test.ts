import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DuckDBConnection } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Compression } from '../../src/core/model/model.ts'
import { TABLES, type Table } from '../../src/core/table/index.ts'
import { PARQUET } from '../../src/formats/parquet.ts'
import { MAX_U256, type Row, SAMPLE, sample, textOf } from '../files/tables.ts'
import { cutAt, writeRows } from '../files/write-rows.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

type Options = { table?: Table; compression?: Compression; cuts?: readonly number[] }

/** Writes rows as one file, by chunks that end at `cuts`; resolves with the path of the file. */
async function write(
  rows: readonly Row[],
  { table = SAMPLE, compression = 'zstd', cuts = [] }: Options = {},
): Promise<string> {
  const folder = join(tempFolder(), "it's a [folder]*")
  mkdirSync(folder)
  const how = { table, compression, folder, format: 'parquet' } as const
  const [part, ...others] = await writeRows(cutAt(rows, cuts), how)
  expect(others).toEqual([])
  const path = part?.staged ?? ''
  const content = readFileSync(path)
  expect(part).toMatchObject({ rows: rows.length, bytes: content.length })
  expect(part?.sha256).toBe(createHash('sha256').update(content).digest('hex'))
  expect(readdirSync(folder)).toEqual([basename(path)])
  return path
}

const metadataOf = async (path: string) => parquetMetadataAsync(await asyncBufferFromFile(path))
const read = async (path: string) =>
  parquetReadObjects({ file: await asyncBufferFromFile(path), compressors })

const ROWS = [
  sample({
    name: 'x',
    small: -2147483648,
    wide: '9223372036854775807',
    yes: false,
    at: 1_700_002_000_123,
    huge: MAX_U256,
    signed: `-${MAX_U256}`,
    exact: '-0.000000000000000001',
  }),
  sample({}),
  sample({ name: '', wide: '-9223372036854775808', yes: true, at: 0, small: 2147483647 }),
]

test.for(['zstd', 'snappy', 'gzip', 'none'] as const)(
  'values of every type read back exactly from %s files',
  async (compression) => {
    const path = await write(ROWS, { compression })
    expect(await read(path)).toEqual([
      {
        name: 'x',
        small: -2147483648,
        wide: 9223372036854775807n,
        yes: false,
        at: new Date('2023-11-14T22:46:40.123Z'),
        huge: MAX_U256,
        signed: `-${MAX_U256}`,
        exact: '-0.000000000000000001',
      },
      { name: null, small: null, wide: null, yes: null, at: null, huge: null, signed: null, exact: null },
      {
        name: '',
        small: 2147483647,
        wide: -9223372036854775808n,
        yes: true,
        at: new Date(0),
        huge: null,
        signed: null,
        exact: null,
      },
    ])
    const codec = compression === 'none' ? 'UNCOMPRESSED' : compression.toUpperCase()
    const { row_groups } = await metadataOf(path)
    expect(new Set(row_groups.flatMap(({ columns }) => columns.map((of) => of.meta_data?.codec)))).toEqual(
      new Set([codec]),
    )
  },
)

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const PARQUET_TYPES = {
  text: TEXT,
  u256: TEXT,
  i256: TEXT,
  decimal: TEXT,
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  bool: { type: 'BOOLEAN' },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true } },
}

test.for([SAMPLE, ...TABLES])('an empty file has the schema of $name', async (table) => {
  const { schema, num_rows } = await metadataOf(await write([], { table }))
  expect(num_rows).toBe(0n)
  const [, ...columns] = schema
  expect(columns).toMatchObject(table.columns.map(({ name, type }) => ({ name, ...PARQUET_TYPES[type] })))
  const signed = columns.filter(({ type }) => type === 'INT32' || type === 'INT64')
  for (const { converted_type } of signed) expect(converted_type ?? '').not.toMatch(/^UINT/)
})

test.for([
  'it’s "quoted"',
  'back\\slash',
  '\u0000',
  'nul\u0000inside',
  '😀',
  '\u2028',
  'a\r\nb',
  '=1+1',
  'null',
])('the unusual text %j reads back unchanged, without escaping', async (name) => {
  expect(await read(await write([sample({ name })]))).toMatchObject([{ name }])
})

test('a text of five million characters is kept completely', { tags: ['long'] }, async () => {
  const name = '😀"'.repeat(1_700_000)
  const [row] = await read(await write([sample({ name }), sample({ name: 'short' })]))
  expect(row?.name === name).toBe(true)
})

const many = Array.from({ length: 210_000 }, (_, at) =>
  sample({ name: `row ${at % 50}`, small: at, wide: at, yes: at % 2 === 0, at, huge: `${at}` }),
)

test('a long table keeps its order, in row groups of about 100,000 rows', { tags: ['long'] }, async () => {
  const path = await write(many)
  const { row_groups } = await metadataOf(path)
  expect(row_groups.length).toBeGreaterThanOrEqual(2)
  for (const { num_rows } of row_groups) expect(num_rows).toBeLessThanOrEqual(130_000n)
  const smalls = (await read(path)).map((row) => row.small)
  expect(smalls).toHaveLength(many.length)
  expect(smalls.every((small, at) => small === at)).toBe(true)
})

test('pages have version 1, and repeated text has a dictionary', async () => {
  const path = await write(many.slice(0, 30_000))
  const { row_groups } = await metadataOf(path)
  const bytes = readFileSync(path)
  const columns = row_groups.flatMap((group) => group.columns.flatMap((of) => of.meta_data ?? []))
  for (const { data_page_offset, dictionary_page_offset } of columns) {
    expect(pageType(bytes, data_page_offset)).toBe('DATA_PAGE')
    if (dictionary_page_offset) expect(pageType(bytes, dictionary_page_offset)).toBe('DICTIONARY_PAGE')
  }
  const named = columns.filter(({ path_in_schema }) => path_in_schema[0] === 'name')
  expect(named.every(({ dictionary_page_offset }) => dictionary_page_offset !== undefined)).toBe(true)
  for (const { encodings } of columns)
    for (const encoding of encodings)
      expect(['PLAIN', 'PLAIN_DICTIONARY', 'RLE', 'RLE_DICTIONARY']).toContain(encoding)
})

/** A page header is a Thrift struct in compact form: its first field is the page's type, a zigzag number. */
function pageType(bytes: Buffer, offset: bigint): string | undefined {
  expect(bytes[Number(offset)]).toBe(0x15)
  return ['DATA_PAGE', 'INDEX_PAGE', 'DICTIONARY_PAGE', 'DATA_PAGE_V2'][(bytes[Number(offset) + 1] ?? 0) / 2]
}

test('statistics contain minimum, maximum and the number of nulls', async () => {
  const { row_groups } = await metadataOf(
    await write([sample({ name: '￿', small: 3 }), sample({ name: '😀', small: -4 }), sample({ name: 'a' })]),
  )
  const of = (column: string) =>
    row_groups[0]?.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === column)?.meta_data
      ?.statistics
  expect(of('name')).toMatchObject({ min_value: 'a', max_value: '😀', null_count: 0n })
  expect(of('small')).toMatchObject({ min_value: -4, max_value: 3, null_count: 1n })
})

test('the same rows give the same bytes however they are chunked', async () => {
  const some = many.slice(0, 30_000)
  const [first, second] = [await write(some), await write(some, { cuts: [0, 999, 10_000, 29_999] })]
  expect(readFileSync(first).equals(readFileSync(second))).toBe(true)
})

test('a very long row changes only its own file', async () => {
  const rows = [sample({ name: 'x'.repeat(1_000_000) }), ...many.slice(0, 9_999)]
  const how = { format: 'parquet', compression: 'zstd', maxRowsPerFile: 5_000 } as const
  const hashes = async (cuts: readonly number[]) =>
    (await writeRows(cutAt(rows, cuts), how)).map(({ sha256 }) => sha256)
  expect(await hashes([5_000])).toEqual(await hashes([]))
})

/** Writes these lines as one part of the sample table; `given` overrides what is expected of it. */
function writeLines(text: string, given: { path?: string; rows?: number; signal?: AbortSignal } = {}) {
  const { path = join(tempFolder(), 'part.parquet'), rows = 1, signal } = given
  const part = { path, table: SAMPLE, compression: 'zstd', rows, maxLineBytes: text.length, signal } as const
  return PARQUET.writePart(part, [Buffer.from(text)])
}

test('rows that DuckDB cannot read fail with OUTPUT_FAILED and leave no file', async () => {
  const folder = tempFolder()
  const writing = writeLines('x,no number\n', { path: join(folder, 'part.parquet') })
  await expect(writing).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  expect(readdirSync(folder)).toEqual(['part.parquet.lines'])
})

test('a file that lacks a staged row is an error', async () => {
  const path = join(tempFolder(), 'part.parquet')
  const writing = writeLines(textOf([sample({ small: 1 })]), { path, rows: 2 })
  await expect(writing).rejects.toThrow(`${path} has 1 rows of 2: nothing is published`)
})

test('an aborted copy throws the reason of its signal', async () => {
  const [end, reason] = [new AbortController(), new Error('stopped')]
  const working = vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(() => {
    end.abort(reason)
    return Promise.reject(new Error('INTERRUPT Error: Interrupted!'))
  })
  onTestFinished(() => working.mockRestore())
  await expect(writeLines('', { signal: end.signal })).rejects.toBe(reason)
})
