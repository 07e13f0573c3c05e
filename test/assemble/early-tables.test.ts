import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEarlyTables } from '../../src/assemble/early-tables.ts'
import type { SliceContext, SliceRows } from '../../src/assemble/write-slice.ts'
import { type Cell, type Column, type TableName, tableNamed } from '../../src/core/table/index.ts'
import { assembleTable } from '../../src/write/assemble-table.ts'
import type { Chunk } from '../../src/write/chunk.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { stageRows } from '../write/write-rows.ts'
import { sliceContext } from './pages-file.ts'

const RANGE = { from: 0, to: 400 }

const VALUES: Record<Column['type'], (row: number) => Cell> = {
  text: (row) => `a text of some forty letters, of row ${row}`,
  int32: (row) => row,
  int64: (row) => row,
  bool: (row) => row % 2 === 0,
  time: (row) => row,
  u256: (row) => String(row),
  i256: (row) => String(-row),
  decimal: () => '0.5',
}

type Lines = { names?: readonly TableName[]; rows?: number; first?: string }

/** A slice with some megabytes of lines in each of the tables; the first cell of all may be another. */
function stageSlice(
  folder: string,
  at: number,
  { names = ['transactions'], rows = 2_500, first }: Lines = {},
): SliceRows {
  const stage = (name: TableName): [TableName, Chunk] => {
    const table = tableNamed(name)
    const staged = Array.from({ length: rows }, (_, row) => {
      const [cell = null, ...cells] = table.columns.map(({ type }) => VALUES[type](at * rows + row))
      return [row === 0 && first !== undefined ? first : cell, ...cells]
    })
    const files = { table, folder, format: 'parquet', escapeFormulas: false } as const
    return [name, stageRows(`${name}-${at}.lines`, staged, files)]
  }
  return {
    range: { from: 100 * at, to: 100 * at + 100 },
    transactions: rows,
    times: undefined,
    chunks: new Map(names.map(stage)),
    seen: new Uint32Array(),
    rejects: [],
    hashes: { path: '', rows: 0, bytes: 0, longest: 0 },
  }
}

/** A job of which three slices are made; the fourth is when it is told to be, `last`, or fails. */
function openJob({
  context: given,
  last,
  ...lines
}: Lines & { context?: Partial<SliceContext>; last?: Lines } = {}) {
  const folder = tempFolder()
  const context = sliceContext(folder, { format: 'parquet', compression: 'zstd', ...given })
  const slices = [0, 1, 2, 3].map((at) => stageSlice(folder, at, { ...lines, ...(at === 3 ? last : {}) }))
  const { promise, resolve, reject } = promiseApart<SliceRows>()
  promise.catch(() => undefined)
  const early = openEarlyTables(context)
  const chunksOf = (name: TableName) => slices.flatMap((slice) => slice.chunks.get(name) ?? [])
  return {
    ...{ context, early, chunksOf },
    begin: (promised = [...slices.slice(0, 3).map((slice) => Promise.resolve(slice)), promise]) =>
      early.begin({ range: RANGE, slices: promised, ready: Promise.resolve() }),
    endLast: () => resolve(slices[3] as SliceRows),
    failLast: () => reject(new Error('the writing was given up')),
    isBegun: (name: TableName) => existsSync(join(folder, `${name}.pipe`)),
  }
}

function promiseApart<T>() {
  let [resolve, reject] = [(_: T) => {}, (_: Error) => {}]
  const promise = new Promise<T>((resolved, rejected) => {
    resolve = resolved
    reject = rejected
  })
  return { promise, resolve, reject }
}

test('a table that is begun early has the file that it would have afterwards', async () => {
  const { context, early, chunksOf, begin, endLast } = openJob()
  const [chunks, other] = [chunksOf('transactions'), openJob()]
  await begin()
  endLast()
  const parts = await early.take('transactions', chunks)
  const table = tableNamed('transactions')
  const later = { ...other.context, table, range: RANGE, chunks: other.chunksOf('transactions') }
  const [expected] = await assembleTable(later)
  expect(parts).toEqual([{ ...expected, staged: parts?.[0]?.staged }])
  expect(parts?.[0]?.staged.startsWith(context.folder)).toBe(true)
  const [made, wanted] = [parts?.[0], expected].map((part) => readFileSync(part?.staged ?? ''))
  expect(made?.equals(wanted ?? Buffer.alloc(0))).toBe(true)
  expect(chunks.map(({ path }) => existsSync(path))).toEqual([false, false, false, false])
  await early.close()
})

test.for<{ why: string; given: Parameters<typeof openJob>[0] }>([
  { why: 'is CSV', given: { context: { format: 'csv', compression: 'none' } } },
  { why: 'has partitions', given: { context: { partitionBy: 'day' } } },
  { why: 'has files of a size', given: { context: { targetFileBytes: 1_000_000_000 } } },
  { why: 'will have more rows than a file', given: { context: { maxRowsPerFile: 10_000 } } },
  { why: 'is small', given: { rows: 500 } },
  { why: 'has long lines', given: { first: 'x'.repeat(600_000) } },
  { why: 'is not of the job', given: { context: { tables: ['ledger'] } } },
])('no table is begun that $why', async ({ given }) => {
  const { early, chunksOf, begin, isBegun, endLast } = openJob(given)
  await begin()
  endLast()
  expect(isBegun('transactions')).toBe(false)
  expect(await early.take('transactions', chunksOf('transactions'))).toBeUndefined()
  await early.close()
})

test.for([0, 3])(
  'nothing is begun where %i slices are made and none is to come, or none is made',
  async (made) => {
    const { begin, isBegun, early } = openJob()
    const slice = stageSlice(tempFolder(), 0)
    await begin(made === 0 ? [new Promise(() => {})] : Array.from({ length: made }, async () => slice))
    expect(isBegun('transactions')).toBe(false)
    await early.close()
  },
)

test.for<{ why: string; given: Parameters<typeof openJob>[0] }>([
  { why: 'has a long line', given: { last: { first: 'x'.repeat(600_000) } } },
  {
    why: 'does not go into one file',
    given: { context: { maxRowsPerFile: 11_500 }, last: { rows: 5_000 } },
  },
])('a table that $why in the end is not taken', async ({ given }) => {
  const { early, chunksOf, begin, isBegun, endLast } = openJob(given)
  await begin()
  expect(isBegun('transactions')).toBe(true)
  endLast()
  expect(await early.take('transactions', chunksOf('transactions'))).toBeUndefined()
  await early.close()
})

test('a table of which a slice is made again is not taken, nor one that nobody has begun', async () => {
  const { early, chunksOf, begin, endLast } = openJob()
  await begin()
  endLast()
  const again = chunksOf('transactions').map((chunk, at) => (at === 1 ? { ...chunk } : chunk))
  expect(await early.take('transactions', again)).toBeUndefined()
  expect(await early.take('transactions', chunksOf('transactions').slice(1))).toBeUndefined()
  expect(await early.take('ledger', [])).toBeUndefined()
  await early.close()
})

test('three tables are begun at once, the largest, whatever the number of jobs', async () => {
  const names = ['transactions', 'ledger', 'wallet_transactions', 'erc20_transfers'] as const
  const [first, second] = [openJob({ names: names.slice(0, 2) }), openJob({ names })]
  await first.begin()
  await second.begin()
  expect(names.filter(first.isBegun)).toEqual(['transactions', 'ledger'])
  expect(names.filter(second.isBegun)).toHaveLength(1)
  for (const job of [first, second]) {
    job.failLast()
    await job.early.close()
  }
  const third = openJob({ names })
  await third.begin()
  const begun = names.filter(third.isBegun)
  expect(begun).toHaveLength(3)
  const sizeOf = (name: TableName) => third.chunksOf(name).reduce((sum, { bytes }) => sum + bytes, 0)
  expect(begun.toSorted()).toEqual(
    [...names]
      .sort((a, b) => sizeOf(b) - sizeOf(a))
      .slice(0, 3)
      .sort(),
  )
  third.endLast()
  for (const name of begun) expect(await third.early.take(name, third.chunksOf(name))).toHaveLength(1)
  await third.early.close()
})

test('closing ends what is fed, and what is about to be', async () => {
  for (const isAwaited of [true, false]) {
    const { early, begin, failLast } = openJob()
    const beginning = begin()
    if (isAwaited) await beginning
    await early.close()
    failLast()
    await beginning
  }
  const { early, begin, endLast, chunksOf } = openJob()
  await begin()
  endLast()
  expect(await early.take('transactions', chunksOf('transactions'))).toHaveLength(1)
  await early.close()
})
