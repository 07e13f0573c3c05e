import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BlockRange } from '../core/model.ts'
import { type TableName, tableNamed } from '../core/table/index.ts'
import { type FileFormat, type Part, removeChunks } from '../write/assemble-table.ts'
import { type Chunk, COPY_BYTES, readLines, sumOf } from '../write/chunk.ts'
import { csvHeader } from '../write/csv.ts'
import { isUsualSize } from '../write/parquet.ts'
import { makePipes, openParquetFeed, type ParquetFeed } from '../write/parquet-feed.ts'
import { partPath } from '../write/part-path.ts'
import type { SliceContext, SliceRows } from './write-slice.ts'

/**
 * Parquet files that are begun while the last rows are still being made, when a core has nothing else to do. Each is the
 * one that would be made afterwards, or is not taken.
 */
export type EarlyTables = {
  /** Begins the largest tables that go into one file, as far as can be told from the slices that are made. */
  begin(beginning: Beginning): Promise<void>
  /** The table's file where it was made of these very chunks; undefined where it is still to be made. */
  take(name: TableName, chunks: readonly Chunk[]): Promise<Part[] | undefined>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

type Beginning = {
  range: BlockRange
  /** In the order of their blocks. */
  slices: readonly Promise<SliceRows>[]
  /** Resolves when DuckDB is there. */
  ready: Promise<void>
}

/** A table of fewer bytes is not worth beginning. */
const WORTH_BYTES = 4_000_000
/** Each takes memory: so many at once, all jobs of the process together. */
const MOST_TABLES = 3
/** Beside its largest, a job begins no more than what has so many bytes with it. */
const MOST_BYTES = 180_000_000
/** In the process. */
let openTables = 0

type Context = FileFormat & Pick<SliceContext, 'tables' | 'partitionBy' | 'folder'>

export function openEarlyTables(context: Context): EarlyTables {
  const tables = new Map<TableName, EarlyTable>()
  let beginning: Promise<void> | undefined
  let isClosed = false
  const begin = async (given: Beginning) => {
    if (isClosed) return
    const chosen = chooseTables(await expectSizes(context, given.slices), context)
    if (chosen.length === 0) return
    openTables += chosen.length
    const pipeOf = (name: TableName) => join(context.folder, `${name}.pipe`)
    const canFeed = await makePipes(chosen.map(({ name }) => pipeOf(name)))
    await given.ready
    if (canFeed && !isClosed)
      for (const { name, bytes } of chosen)
        tables.set(name, beginTable({ name, bytes, pipe: pipeOf(name) }, { ...given, context }))
    else openTables -= chosen.length
  }
  return {
    begin: (given) => {
      beginning = begin(given)
      return beginning
    },
    take: async (name, chunks) => tables.get(name)?.take(chunks),
    close: async () => {
      isClosed = true
      await beginning?.catch(() => undefined)
      await Promise.all([...tables.values()].map((table) => table.close()))
    },
  }
}

type Size = { name: TableName; rows: number; bytes: number; longest: number }

/** What the tables will have, if the slices to come are like those that are made; nothing where all are. */
async function expectSizes({ tables }: Context, slices: Beginning['slices']): Promise<Size[]> {
  const settled = await Promise.all(slices.map((slice) => Promise.race([slice, undefined])))
  const made = settled.filter((slice) => slice !== undefined)
  if (made.length === 0 || made.length === slices.length) return []
  const times = slices.length / made.length
  return tables.map((name) => {
    const { rows, bytes, longest } = sumOf(made.flatMap(({ chunks }) => chunks.get(name) ?? []))
    return { name, rows: rows * times, bytes: bytes * times, longest }
  })
}

function chooseTables(sizes: readonly Size[], context: Context): Size[] {
  const { format, partitionBy, targetFileBytes, maxRowsPerFile } = context
  if (format !== 'parquet' || partitionBy !== undefined || targetFileBytes !== undefined) return []
  const chosen: Size[] = []
  let room = MOST_BYTES
  for (const size of [...sizes].sort((a, b) => b.bytes - a.bytes)) {
    if (openTables + chosen.length >= MOST_TABLES || size.bytes < WORTH_BYTES) break
    // What is expected may be wrong by a little.
    if (1.1 * size.rows > maxRowsPerFile || !isUsualSize(size)) continue
    if (chosen.length > 0 && size.bytes > room) continue
    chosen.push(size)
    room -= size.bytes
  }
  return chosen
}

type EarlyTable = {
  take(chunks: readonly Chunk[]): Promise<Part[] | undefined>
  close(): Promise<void>
}

function beginTable(
  { name, bytes, pipe }: { name: TableName; bytes: number; pipe: string },
  { context, range, slices }: Beginning & { context: Context },
): EarlyTable {
  const table = tableNamed(name)
  const path = partPath({ ...context, table: name, partition: undefined, range, number: 0 })
  const staged = join(context.folder, basename(path))
  const header = csvHeader(table.columns)
  const feed = openParquetFeed(pipe, { path: staged, table, compression: context.compression, bytes })
  let isOpen = true
  const end = async () => {
    await feed.abandon()
    if (isOpen) openTables -= 1
    isOpen = false
  }
  const make = async () => {
    try {
      await feed.write(header)
      const fed = await feedSlices(feed, slices, name)
      const measured = await feed.finish()
      return measured && { ...measured, fed }
    } finally {
      await end()
    }
  }
  // Whatever goes wrong here goes wrong again, and is told, where the table is made afterwards.
  const made = make().catch(() => undefined)
  return {
    take: async (chunks) => {
      const file = await made
      if (file === undefined) return undefined
      const { fed, ...measured } = file
      const { rows, bytes, longest } = sumOf(chunks)
      const isUsual = isUsualSize({ rows, bytes: header.length + bytes, longest })
      const isWhole = areSame(fed, chunks) && rows === measured.rows && rows <= context.maxRowsPerFile
      await (isUsual && isWhole ? removeChunks(chunks) : rm(staged, { force: true }))
      if (!isUsual || !isWhole) return undefined
      return [{ staged, path, ...measured, fromBlock: range.from, toBlock: range.to }]
    },
    close: end,
  }
}

/** Resolves with what was fed, once all of it is taken. */
async function feedSlices(feed: ParquetFeed, slices: Beginning['slices'], name: TableName): Promise<Chunk[]> {
  const room = Buffer.allocUnsafeSlow(COPY_BYTES)
  const fed: Chunk[] = []
  for (const slice of slices) {
    const chunk = (await slice).chunks.get(name)
    if (chunk === undefined || chunk.rows === 0) continue
    for (const block of readLines([chunk], room)) await feed.write(block)
    fed.push(chunk)
  }
  return fed
}

/** Slices that are made again have other chunks. */
function areSame(fed: readonly Chunk[], chunks: readonly Chunk[]): boolean {
  return fed.length === chunks.length && fed.every((chunk, at) => chunk === chunks[at])
}
