import { join } from 'node:path'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { WrittenRange } from '../checkpoint/checkpoint-state.ts'
import { addCounts } from '../core/model/add-counts.ts'
import type { Listings } from '../core/model/listings.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { sumUnknowns, sumUnknownsIfPresent } from '../core/model/unknowns.ts'
import { raceAbort } from '../core/platform/abort-signal.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import { type Chunk, sumChunks } from '../files/chunk.ts'
import { type Part, writeTable } from '../files/write-table.ts'
import type { Store } from '../storage/store.ts'
import { cutBatches, totalBytes } from '../transform/batches.ts'
import { rejectLines, retainedRejects } from '../transform/rejects.ts'
import { resolveReorgedTransactions } from '../transform/resolve-reorged.ts'
import type { StagedPage } from '../transform/staged/stage-page.ts'
import { createStaging, type Staging } from '../transform/staging.ts'
import { openWritePool, type WritePool } from '../transform/threads/pool.ts'
import type { WriteContext } from '../transform/threads/task.ts'
import {
  type BatchRows,
  type BlockRangeBatch,
  type Contradiction,
  seenIn,
  timesIn,
} from '../transform/write-batch.ts'
import { writeContext } from '../transform/write-context.ts'
import { keepRaw } from './keep-raw.ts'
import { publishExport } from './publish-export.ts'
import { type AlreadyExported, findAlreadyExported, storeHashes } from './resume/already-exported.ts'
import { listingsToRead, type PreviousExport, removedWallets } from './resume/previous-export.ts'

export type OutputOptions = {
  job: Job
  store: Store
  checkpoint: Checkpoint
  stats: RunStats
  signal: AbortSignal
  /** What an earlier run has exported, and the block from which on this one writes. */
  previous: PreviousExport
}

/** The writing of one job: rows are made while pages arrive, files once all of them are there. */
export type OutputWriter = Pick<Staging, 'readPage' | 'onPageStored'> & {
  /** Puts the rows of the blocks up to the end in order, and tells what has to be read again before they are published. */
  merge(end: number): Promise<MergeResult>
  /** Makes the files of the blocks up to the end, as they were arranged, and publishes them. Throws OUTPUT_FAILED. */
  finish(end: number): Promise<WrittenRange>
  /** Gives up what is under way and removes what was staged. */
  close(): Promise<void>
}

export type MergeResult = {
  /** Transactions whose views tell different facts of the chain; of many, the first are named. */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** The fingerprints of all transactions; they can be read until the output is closed. */
  hashes: readonly Chunk[]
  /** Transactions of these blocks that files of earlier runs hold too. */
  alreadyExported: AlreadyExported | undefined
}

/** Opens the writing of what the spool holds and will hold. Asks the service nothing. */
export async function openOutput(output: OutputOptions): Promise<OutputWriter> {
  const folder = await makePartsFolder(join(output.job.output, PRIVATE_FOLDER))
  const { checkpoint, previous, stats } = output
  const listings = listingsToRead(output.job, previous)
  const wallets = [...output.job.wallets, ...removedWallets(output.job, previous)]
  const context = writeContext({ ...output, listings, wallets, from: previous.from, folder })
  const pool = openWritePool(context)
  const onStaged = (page: StagedPage) => countStaged(stats, page)
  const staging = createStaging({ checkpoint, listings, from: previous.from, pool, onStaged })
  const outputContext = { ...output, listings, context, staging, pool }
  let batches: readonly BatchRows[] | undefined
  return {
    readPage: staging.readPage,
    onPageStored: staging.onPageStored,
    merge: async (end) => {
      batches = await mergeBatches(outputContext, { from: previous.from, to: end })
      return summarizeBatches(outputContext, batches)
    },
    finish: async (end) => {
      batches ??= await mergeBatches(outputContext, { from: previous.from, to: end })
      return finish(outputContext, { from: previous.from, to: end }, batches)
    },
    close: async () => {
      await pool.close()
      await removePartsFolder(folder)
    },
  }
}

/** Counts the rows that pages have; of a transaction that several wallets see they are counted anew in the end. */
function countStaged(stats: RunStats, { transactions, rows }: StagedPage): void {
  stats.transactions += transactions
  addRows(stats.rows, rows)
}

type RowCounts = RunStats['rows']

function addRows(sum: RowCounts, rows: RowCounts): void {
  for (const table of Object.keys(rows) as TableName[]) sum[table] = (sum[table] ?? 0) + (rows[table] ?? 0)
}

function countRows(batches: readonly BatchRows[]): Pick<RunStats, 'transactions' | 'repeatedLogs' | 'rows'> {
  const rows: RowCounts = {}
  for (const { chunks } of batches)
    addRows(rows, Object.fromEntries([...chunks].map(([table, all]) => [table, sumChunks(all).rows])))
  const sum = (count: (batch: BatchRows) => number) => batches.reduce((all, batch) => all + count(batch), 0)
  return {
    transactions: sum(({ transactions }) => transactions),
    repeatedLogs: sum(({ repeatedLogs }) => repeatedLogs),
    rows,
  }
}

type OutputContext = OutputOptions & {
  listings: Listings
  context: WriteContext
  staging: Staging
  pool: WritePool
}

/** The slices of the range. What is under way at an abort is given up when the output is closed. */
function mergeBatches(output: OutputContext, range: BlockRange): Promise<readonly BatchRows[]> {
  return raceAbort(mergeAndResolve(output, range), output.signal)
}

async function summarizeBatches(output: OutputContext, batches: readonly BatchRows[]): Promise<MergeResult> {
  return {
    contradicted: batches.reduce((sum, batch) => sum + batch.contradicted, 0),
    contradictions: batches.flatMap((batch) => batch.contradictions),
    hashes: batches.map(({ hashes }) => hashes),
    alreadyExported: await findAlreadyExported(output, batches),
  }
}

async function finish(
  output: OutputContext,
  range: BlockRange,
  batches: readonly BatchRows[],
): Promise<WrittenRange> {
  const { job, stats, previous, pool } = output
  const { to } = range
  Object.assign(stats, countRows(batches))
  await storeHashes(output, range, batches)
  // The memory of its threads goes before tables ask for some.
  await pool.close()
  const parts = await writeTables(output, batches, range)
  if (job.keepRaw) await keepRaw({ ...output, to })
  const rejected = await rejectLines(output, batches)
  const rejects = [
    ...new Set([...retainedRejects(previous, { batches, chain: job.chain }), ...rejected]),
  ].sort()
  const names = [...output.listings.keys()]
  const seen = addCounts(batches.map((batch) => seenIn(batch, names)))
  const totalSeen = addCounts([...previous.written.map((one) => Object.entries(one.seen)), seen])
  const unknowns = sumUnknowns(batches.map((batch) => batch.unknowns))
  stats.written = { ...range, times: timesIn(batches) }
  await publishExport({
    ...output,
    range,
    parts,
    rejects,
    seen: totalSeen,
    unknowns: sumUnknownsIfPresent([...previous.written, unknowns]),
    missing: output.checkpoint.missing(),
    refused: stats.refused.map((one) => ({ ...one, toBlock: previous.refusedEnds?.get(one.address) ?? to })),
    begunMs: output.checkpoint.begunMs,
    localPath: async ({ staged = '' }) => staged,
    raw: (covered) => new Set(job.keepRaw ? [...names, ...covered] : []),
  })
  return { ...range, seen: Object.fromEntries(seen), ...unknowns }
}

/** The slices of the range, every transaction in one of them. */
async function mergeAndResolve(
  { staging, pool, context }: OutputContext,
  range: BlockRange,
): Promise<readonly BatchRows[]> {
  const pages = await staging.finish(range)
  const write = (batch: BlockRangeBatch) => pool.run({ kind: 'batch', batch }, totalBytes(batch.pages))
  const batches = await Promise.all(cutBatches(range, pages).map(write))
  return resolveReorgedTransactions(batches, { ...context, pages, rewrite: write })
}

/** Tables made at once, all jobs of the process together: each takes memory. */
const limitTables = limitConcurrency(2)

async function writeTables(
  { job, context: { folder, tables: names }, signal }: OutputContext,
  batches: readonly BatchRows[],
  range: BlockRange,
): Promise<Map<TableName, Part[]>> {
  const { compression, escapeFormulas, maxRowsPerFile, targetFileBytes } = job
  const format = { format: job.format, compression, escapeFormulas, maxRowsPerFile, targetFileBytes, folder }
  const tables = names.map((name) => {
    const chunks = batches.flatMap((batch) => batch.chunks.get(name) ?? [])
    return { name, chunks, bytes: sumChunks(chunks).bytes }
  })
  // The largest first: it takes longest, and others can be made meanwhile.
  const bySize = [...tables].sort((a, b) => b.bytes - a.bytes)
  const jobs = bySize.map(({ name, chunks }) =>
    limitTables(async () => {
      signal.throwIfAborted()
      return [name, await writeTable({ ...format, table: tableByName(name), chunks, range, signal })] as const
    }),
  )
  const parts = new Map(await allSettledOrThrow(jobs))
  return new Map(names.map((name) => [name, parts.get(name) ?? []]))
}

/** Waits for all of them to end, then rejects with the first failure. */
async function allSettledOrThrow<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
