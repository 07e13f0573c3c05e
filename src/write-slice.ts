import { join } from 'node:path'
import { diskError } from './disk.ts'
import { type FlatTransaction, flattenTransaction, type Reject } from './flatten/flatten-transaction.ts'
import { fingerprint, writeFingerprints } from './merge/fingerprints.ts'
import { mergeItems } from './merge/merge-items.ts'
import { type MovedTransaction, openSource, type SourcePlace } from './merge/source-place.ts'
import type { BlockRange, PartitionBy } from './model.ts'
import { openPlaces, type PlaceFiles } from './open-places.ts'
import { type TableName, tableNamed } from './table/index.ts'
import { type FileFormat, lineMaker } from './write/assemble-table.ts'
import { type Chunk, type ChunkWriter, openChunk } from './write/chunk.ts'
import type { CsvLines } from './write/csv.ts'
import { type Partitioner, partitioner } from './write/partition.ts'

/** What all slices of a job have in common; plain values, so that a thread can be given it. */
export type SliceContext = FileFormat &
  PlaceFiles & {
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
  }

/** Blocks that every wallet's pages have settled, and the pages that may hold their items. */
export type Slice = {
  range: BlockRange
  places: readonly SourcePlace[]
  /** By hash, transactions that stand in several places. @default none does */
  moved?: ReadonlyMap<string, MovedTransaction>
}

export type SliceRows = {
  range: BlockRange
  transactions: number
  chunks: ReadonlyMap<TableName, Chunk>
  /** Transactions by wallet. */
  seen: ReadonlyMap<string, number>
  rejects: readonly Reject[]
  /** File of the transactions' fingerprints. */
  hashes: string
}

/** Makes the rows of a slice, staged on disk as lines of every table. The same for the same items. */
export type SliceWriter = (slice: Slice) => SliceRows

/** What is made of one slice after the other shares its buffers. */
export function createSliceWriter(context: SliceContext): SliceWriter {
  const openLines = lineMaker(context)
  const tables = context.tables.map((name) => ({ name, lines: openLines(tableNamed(name)) }))
  return (slice) => writeSlice(slice, { ...context, lines: tables })
}

type Writing = SliceContext & { lines: readonly TableLines[] }
type TableLines = { name: TableName; lines: CsvLines }

function writeSlice({ range, places, moved }: Slice, context: Writing): SliceRows {
  const pages = openPlaces(context)
  const reading = { read: pages.read, range, cutMs: context.cutMs, ...(moved && { moved }) }
  const sources = places.map((place) => openSource(place, reading))
  const rejects: Reject[] = []
  const tables = new Set(context.tables)
  const flattening = { ...context, tables, onReject: (reject: Reject) => rejects.push(reject) }
  const stage = stageRows(range, context)
  const seen = new Map<string, number>()
  const fingerprints: number[] = []
  let transactions = 0
  try {
    for (const views of mergeItems(sources)) {
      fingerprints.push(fingerprint(views[0].key.hash))
      const flat = flattenTransaction(views, flattening)
      if (flat === undefined) continue
      transactions += 1
      for (const wallet of flat.seenBy) seen.set(wallet, (seen.get(wallet) ?? 0) + 1)
      stage.add(flat)
    }
    return {
      range,
      transactions,
      chunks: stage.finish(),
      seen,
      rejects,
      hashes: stageHashes(fingerprints, range, context),
    }
  } finally {
    stage.close()
    pages.close()
  }
}

function stageHashes(fingerprints: readonly number[], { from }: BlockRange, { folder }: Writing): string {
  const file = join(folder, `hashes-${from}`)
  try {
    writeFingerprints(file, fingerprints)
  } catch (cause) {
    throw diskError(`cannot stage hashes in ${file}`, cause)
  }
  return file
}

/** Bytes of a table's lines that are written at once, about. */
const FLUSH_BYTES = 1 << 18

/** One table of a slice on its way to disk. */
type Staged = TableLines & { chunk: ChunkWriter }

function stageRows({ from }: BlockRange, { folder, lines, partitionBy }: Writing) {
  const staged = lines.map((table): Staged => {
    table.lines.take()
    return { ...table, chunk: openChunk(join(folder, `${table.name}-${from}.lines`)) }
  })
  const flush = () => {
    for (const { chunk, lines } of staged) chunk.write(lines.take())
  }
  const partitionOf = partitionBy === undefined ? undefined : partitioner(partitionBy)
  let partition: string | undefined
  return {
    add: ({ rows }: FlatTransaction) => {
      const here = placeOf(rows, partitionOf)
      if (here !== undefined && here !== partition) {
        flush()
        for (const { chunk } of staged) chunk.begin(here)
        partition = here
      }
      for (const { name, lines, chunk } of staged) {
        for (const row of rows[name]) lines.add(row)
        if (lines.size() >= FLUSH_BYTES) chunk.write(lines.take())
      }
    },
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
