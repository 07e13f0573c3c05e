import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { toBytes } from '../core/byte-text.ts'
import type { Times } from '../core/figures.ts'
import type { BlockRange, PartitionBy } from '../core/model.ts'
import { type TableName, tableNamed } from '../core/table/index.ts'
import {
  type FlatTransaction,
  type FlattenContext,
  flattenTransaction,
} from '../flatten/flatten-transaction.ts'
import { fingerprint, fingerprintBytes } from '../merge/fingerprints.ts'
import type { ItemSource } from '../merge/frame-items.ts'
import { mergeItems, type TransactionViews } from '../merge/merge-items.ts'
import { type MovedTransaction, openSource, type SourcePlace } from '../merge/source-place.ts'
import { type FileFormat, lineMaker } from '../write/assemble-table.ts'
import { type Chunk, type ChunkFile, type ChunkWriter, chunkFile } from '../write/chunk.ts'
import type { Csv, CsvLines } from '../write/csv.ts'
import { type Partitioner, partitioner } from '../write/partition.ts'
import { openPlaces, type PlaceFiles } from './open-places.ts'
import { rejectLine } from './reject-line.ts'

/** What all slices of a job have in common; plain values, so that a thread can be given it. */
export type SliceContext = FileFormat &
  PlaceFiles & {
    chain: string
    nativeSymbol: string | null
    /** Of the wallets whose rows are made. */
    addresses: readonly string[]
    /** By address, of wallets that left the job: they count before this block only. */
    ends: ReadonlyMap<string, number>
    /** By address, where a wallet has one. */
    labels: ReadonlyMap<string, string>
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
  /** Of its transactions; undefined where there is none. */
  times: Times | undefined
  chunks: ReadonlyMap<TableName, Chunk>
  /** Pairs of a listing, by its place among the job's, and its transactions: there may be many of both. */
  seen: Uint32Array
  /** Lines of `rejects.ndjson`. */
  rejects: readonly string[]
  /** The transactions' fingerprints. */
  hashes: Chunk
}

export type SliceWriter = {
  /** Makes the rows of a slice, staged on disk as lines of every table. The same for the same items. */
  write(slice: Slice): SliceRows
  /** Closes the files that rows are staged in; the next slice opens them again. */
  close(): void
}

/** What is made of one slice after the other shares buffers and files, which other threads have their own of. */
export function createSliceWriter(context: SliceContext): SliceWriter {
  const csv = lineMaker(context)
  const fileOf = (name: string) => chunkFile(join(context.folder, `${name}-${threadId}.lines`))
  const tables = context.tables.map((name): TableStage => {
    const file = fileOf(name)
    return { name, lines: csv.linesOf(tableNamed(name).columns), file, chunk: file.open() }
  })
  const hashes = fileOf('hashes')
  const numberOf = new Map(context.addresses.map((address, at) => [address, at]))
  const labels = new Map([...context.labels].map(([address, label]) => [address, toBytes(label)]))
  const flattening = {
    chain: toBytes(context.chain),
    nativeSymbol: context.nativeSymbol === null ? null : toBytes(context.nativeSymbol),
    tables: new Set(context.tables),
    wallets: {
      has: (address: string) => numberOf.has(address),
      get: (address: string) => labels.get(address),
    },
  }
  const writing = { ...context, flattening, csv, staging: tables, hashes, numberOf }
  return {
    write: (slice) => writeSlice(slice, writing),
    close: () => {
      for (const file of [...tables.map((table) => table.file), hashes]) file.close()
    },
  }
}

type Writing = SliceContext & {
  flattening: Omit<FlattenContext, 'onReject'>
  csv: Csv
  staging: readonly TableStage[]
  hashes: ChunkFile
  /** Of a wallet, its place among the job's; the listing of all blocks is the only one. */
  numberOf: ReadonlyMap<string, number>
}
/** One table on its way to disk; a chunk is what a slice has of it. */
type TableStage = { name: TableName; lines: CsvLines; file: ChunkFile; chunk: ChunkWriter }

function writeSlice({ range, places, moved }: Slice, context: Writing): SliceRows {
  const pages = openPlaces(context)
  const reading = { read: pages.read, range, cutMs: context.cutMs, ...(moved && { moved }) }
  const sources = places.map((place) => openSource(place, reading))
  const rejects: string[] = []
  const stage = openStage(context)
  try {
    const flatten = flattener(context, (reject) => rejects.push(rejectLine(context.chain, reject)))
    const { transactions, times, seen, fingerprints } = stageAll(sources, flatten, stage)
    return {
      range,
      transactions,
      times,
      chunks: finishStage(stage),
      seen: Uint32Array.from(
        [...seen].flatMap(([listing, count]) => [context.numberOf.get(listing) ?? 0, count]),
      ),
      rejects,
      hashes: stageHashes(fingerprints, context.hashes),
    }
  } finally {
    pages.close()
  }
}

type Flatten = (views: TransactionViews) => FlatTransaction | undefined

/** Makes the rows of transactions; wallets that left the job have rows up to their end only, and count as own there. */
function flattener(context: Writing, onReject: FlattenContext['onReject']): Flatten {
  const { ends } = context
  const flattening = { ...context.flattening, onReject }
  const { wallets } = flattening
  if (ends.size === 0) return (views) => flattenTransaction(views, flattening)
  return (views) => {
    const { block } = views[0].key
    const counts = (address: string) => block < (ends.get(address) ?? Number.POSITIVE_INFINITY)
    const has = (address: string) => wallets.has(address) && counts(address)
    const counted = views.filter(({ wallet }) => counts(wallet))
    return flattenTransaction(counted, { ...flattening, wallets: { has, get: wallets.get } })
  }
}

function stageAll(sources: readonly ItemSource[], flatten: Flatten, stage: Stage) {
  const seen = new Map<string, number>()
  const fingerprints: number[] = []
  let transactions = 0
  let times: Times | undefined
  for (const views of mergeItems(sources)) {
    fingerprints.push(fingerprint(views[0].key.hash))
    const flat = flatten(views)
    if (flat === undefined) continue
    transactions += 1
    const { block_timestamp: time } = flat.prefix
    times = { first: times?.first ?? time, last: time }
    for (const wallet of flat.seenBy) seen.set(wallet, (seen.get(wallet) ?? 0) + 1)
    stageRows(stage, flat)
  }
  return { transactions, times, seen, fingerprints }
}

/** When the first and the last transaction of all slices were made; undefined where there is none. */
export function timesIn(slices: readonly SliceRows[]): Times | undefined {
  const all = slices.flatMap(({ times }) => times ?? [])
  if (all.length === 0) return undefined
  const [firsts, lasts] = [all.map(({ first }) => first), all.map(({ last }) => last)]
  return { first: firsts.reduce((a, b) => Math.min(a, b)), last: lasts.reduce((a, b) => Math.max(a, b)) }
}

/** Transactions by listing. */
export function seenIn({ seen }: Pick<SliceRows, 'seen'>, listings: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (let at = 0; at < seen.length; at += 2) counts.set(listings[seen[at] ?? 0] ?? '', seen[at + 1] ?? 0)
  return counts
}

function stageHashes(fingerprints: readonly number[], file: ChunkFile): Chunk {
  const chunk = file.open()
  chunk.write({ bytes: fingerprintBytes(fingerprints), rows: fingerprints.length, longest: 0 })
  return chunk.finish()
}

/** Bytes of lines that are written at once, about. */
const FLUSH_BYTES = 1 << 19

/** The tables of a slice. */
type Stage = {
  csv: Csv
  tables: readonly TableStage[]
  partitionOf: Partitioner | undefined
  /** That of the last rows. */
  partition: string | undefined
}

function openStage({ csv, staging, partitionBy }: Writing): Stage {
  for (const table of staging) {
    table.lines.take()
    table.chunk = table.file.open()
  }
  return {
    csv,
    tables: staging,
    partitionOf: partitionBy === undefined ? undefined : partitioner(partitionBy),
    partition: undefined,
  }
}

function stageRows(stage: Stage, { prefix, rows }: FlatTransaction): void {
  const here = stage.partitionOf?.(Number(prefix.block_number), prefix.block_timestamp)
  if (here !== undefined && here !== stage.partition) {
    flush(stage)
    for (const { chunk } of stage.tables) chunk.begin(here)
    stage.partition = here
  }
  const first = stage.csv.prefixOf(prefix)
  let waiting = 0
  for (const { name, lines } of stage.tables) {
    for (const row of rows[name]) lines.add(row, first)
    waiting += lines.size()
  }
  if (waiting >= FLUSH_BYTES) flush(stage)
}

function flush({ tables }: Stage): void {
  for (const { chunk, lines } of tables) chunk.write(lines.take())
}

function finishStage(stage: Stage): Map<TableName, Chunk> {
  flush(stage)
  return new Map(stage.tables.map(({ name, chunk }) => [name, chunk.finish()]))
}
