import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { diskError } from './disk.ts'
import { type FlatTransaction, flattenTransaction, type Reject } from './flatten/flatten-transaction.ts'
import { BLOCKS } from './listings.ts'
import { mergeItems } from './merge/merge-items.ts'
import { openSource, type SourcePlace } from './merge/source-place.ts'
import type { BlockRange, PartitionBy } from './model.ts'
import { bodiesIn } from './spool/stretch.ts'
import { type Row, type TableName, tableNamed } from './table/index.ts'
import { type FileFormat, lineMaker } from './write/assemble-table.ts'
import { type Chunk, openChunk } from './write/chunk.ts'
import type { LineMaker } from './write/lines.ts'
import { type Partitioner, partitioner } from './write/partition.ts'

/** What all slices of a job have in common; plain values, so that a thread can be given it. */
export type SliceContext = FileFormat & {
  chain: string
  nativeSymbol: string | null
  /** Label by address of every wallet of the job. */
  wallets: ReadonlyMap<string, string | null>
  tables: readonly TableName[]
  /** undefined: no partitions. */
  partitionBy?: PartitionBy | undefined
  /** Items younger than this, in milliseconds since 1970, are left out. */
  cutMs: number
  /** Where chunks are staged. */
  folder: string
  /** The checkpoint with the pages, and the file of sorted runs. */
  pagesFile: string
  runsFile: string
}

/** Blocks that every wallet's pages have settled, and the pages that may hold their items. */
export type Slice = { range: BlockRange; places: readonly SourcePlace[] }

export type SliceRows = {
  range: BlockRange
  transactions: number
  chunks: ReadonlyMap<TableName, Chunk>
  /** Transactions by wallet. */
  seen: ReadonlyMap<string, number>
  rejects: readonly Reject[]
}

/** Transactions gathered before their rows become lines. */
const BATCH = 250

/** Turns the pages of a slice into lines of every table, staged on disk. The same for the same items. */
export async function writeSlice({ range, places }: Slice, context: SliceContext): Promise<SliceRows> {
  const files = new Map<string, number>()
  const reader = { read: async (place: SourcePlace) => readPlace(place, files, context), range }
  const sources = places.map((place) => openSource(place, { ...reader, cutMs: context.cutMs }))
  const rejects: Reject[] = []
  const tables = new Set(context.tables)
  const flattening = { ...context, tables, onReject: (reject: Reject) => rejects.push(reject) }
  const stage = stageRows(range, context)
  const seen = new Map<string, number>()
  let transactions = 0
  try {
    for await (const views of mergeItems(sources)) {
      const flat = flattenTransaction(views, flattening)
      if (flat === undefined) continue
      transactions += 1
      for (const wallet of flat.seenBy) seen.set(wallet, (seen.get(wallet) ?? 0) + 1)
      stage.add(flat)
      if (transactions % BATCH === 0) stage.flush()
    }
    return { range, transactions, chunks: stage.finish(), seen, rejects }
  } finally {
    stage.close()
    for (const file of files.values()) closeSync(file)
  }
}

/** The bytes of a place in the checkpoint or among sorted runs; opened files stay in `files`. */
export function readPlace(
  { wallet, offset, bytes }: SourcePlace,
  files: Map<string, number>,
  { pagesFile, runsFile }: Pick<SliceContext, 'pagesFile' | 'runsFile'>,
): Buffer {
  const path = wallet === null ? runsFile : pagesFile
  const file = files.get(path) ?? openSync(path, 'r')
  files.set(path, file)
  const body = Buffer.allocUnsafe(bytes)
  if (readSync(file, body, 0, bytes, offset) < bytes)
    throw diskError(`cannot read ${path}`, new Error('it ends too early'))
  return wallet === BLOCKS ? bodiesIn(body) : body
}

/** One table of a slice on its way to disk. */
type Staged = { name: TableName; rows: Row[]; toLines: LineMaker; chunk: ReturnType<typeof openChunk> }

function stageRows({ from }: BlockRange, context: SliceContext) {
  const staged = context.tables.map((name): Staged => {
    const toLines = lineMaker(tableNamed(name), context)
    return { name, rows: [], toLines, chunk: openChunk(join(context.folder, `${name}-${from}.lines`)) }
  })
  const flush = () => {
    for (const table of staged) {
      if (table.rows.length > 0) table.chunk.write(table.toLines(table.rows))
      table.rows = []
    }
  }
  const partitionOf = context.partitionBy === undefined ? undefined : partitioner(context.partitionBy)
  let partition: string | undefined
  return {
    add: ({ rows }: FlatTransaction) => {
      const here = placeOf(rows, partitionOf)
      if (here !== undefined && here !== partition) {
        flush()
        for (const { chunk } of staged) chunk.begin(here)
        partition = here
      }
      for (const table of staged) for (const row of rows[table.name]) table.rows.push(row)
    },
    flush,
    finish: (): Map<TableName, Chunk> => {
      flush()
      return new Map(staged.map(({ name, chunk }) => [name, chunk.finish()]))
    },
    close: () => {
      for (const { chunk } of staged) chunk.close()
    },
  }
}

const [BLOCK_NUMBER, BLOCK_TIMESTAMP] = [1, 3]

/** The partition of a transaction, whose rows all begin with the same block and time; undefined where it has no rows. */
function placeOf(rows: FlatTransaction['rows'], partitionOf: Partitioner | undefined): string | undefined {
  if (partitionOf === undefined) return undefined
  const row = Object.values(rows).find((some) => some.length > 0)?.[0]
  return row && partitionOf(Number(row[BLOCK_NUMBER]), Number(row[BLOCK_TIMESTAMP]))
}
