import { join } from 'node:path'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { WrittenRange } from '../checkpoint/checkpoint-state.ts'
import { addCounts } from '../core/model/add-counts.ts'
import { atomicListing, type Listings } from '../core/model/listings.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { countDecimalsConflicts, uniteDecimals } from '../core/model/token-decimals.ts'
import { sumUnknowns, sumUnknownsIfPresent } from '../core/model/unknowns.ts'
import { raceAbort } from '../core/platform/abort-signal.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type TableName, tableByName } from '../core/table/index.ts'
import { type Chunk, sumChunks } from '../files/chunk.ts'
import { writeRaw } from '../files/raw.ts'
import { type Part, writeTable } from '../files/write-table.ts'
import { sourceOf } from '../sources/index.ts'
import type { Store } from '../storage/store.ts'
import { cutBatches, pagesIn, totalBytes } from '../transform/batches.ts'
import type { FeeResolver } from '../transform/fees.ts'
import { mergeItems } from '../transform/merge/merge-items.ts'
import { openPageSource } from '../transform/merge/page-items.ts'
import { openPageReader } from '../transform/page-reader.ts'
import { rejectBackwardTimes } from '../transform/reject-backward-times.ts'
import { badItems, rejectLines, retainedRejects } from '../transform/rejects.ts'
import { resolveReorgedTransactions } from '../transform/resolve-reorged.ts'
import type { StagedPage } from '../transform/staged/stage-page.ts'
import { createStaging, type Staging } from '../transform/staging.ts'
import { openWritePool, type WritePool } from '../transform/threads/pool.ts'
import { type WriteContext, writeContext } from '../transform/threads/task.ts'
import {
  type BatchRows,
  type BlockRangeBatch,
  type Contradiction,
  seenIn,
  timesIn,
} from '../transform/write-batch.ts'
import { keepRaw } from './keep-raw.ts'
import { publishExport } from './publish-export.ts'
import { type AlreadyExported, findAlreadyExported, storeHashes } from './resume/already-exported.ts'
import { gapsOfExport, openingOfExport } from './resume/gaps.ts'
import { indexedEnds, listingsToRead, type PreviousExport, removedWallets } from './resume/previous-export.ts'

export type OutputOptions = {
  job: Job
  store: Store
  checkpoint: Checkpoint
  stats: RunStats
  signal: AbortSignal
  /** The previous export, and the block from which this run writes. */
  previous: PreviousExport
  fees: FeeResolver
}

/**
 * Writes the output of one job. Rows are staged while pages arrive; files are created after all pages have
 * arrived.
 */
export type OutputWriter = Pick<Staging, 'openPageReader' | 'onPageStored'> & {
  /**
   * Merges the rows of the blocks before `end` and returns what must be read again before they are published.
   */
  merge(end: number): Promise<MergeResult>
  /**
   * Creates the files of the blocks before `end` from the last merge and publishes them. Throws
   * OUTPUT_FAILED.
   */
  finish(end: number): Promise<WrittenRange>
  /** Aborts running tasks and deletes the staging files. */
  close(): Promise<void>
}

export type MergeResult = {
  /**
   * Number of transactions whose views contradict each other. `contradictions` lists the first of each batch.
   */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** Fingerprints of all transactions, readable until the output is closed. */
  hashes: readonly Chunk[]
  /** Transactions that retained files of earlier runs also contain; undefined if there are none. */
  alreadyExported: AlreadyExported | undefined
}

/**
 * Opens the writer for the pages that are in the checkpoint and that will be added to it. Sends no requests.
 */
export async function openOutputWriter(output: OutputOptions): Promise<OutputWriter> {
  const folder = await makePartsFolder(join(output.job.output, PRIVATE_FOLDER))
  const { checkpoint, previous, stats } = output
  const listings = listingsToRead(output.job, previous)
  const wallets = [...output.job.wallets, ...removedWallets(output.job, previous)]
  const { fees } = output
  const context = writeContext({
    ...output,
    listings,
    wallets,
    from: previous.from,
    folder,
    fees: fees.current(),
  })
  const pool = openWritePool(context)
  const onStaged = (page: StagedPage) => countStaged(stats, page)
  const staging = createStaging({
    checkpoint,
    listings,
    from: previous.from,
    pool,
    fees,
    folder,
    onStaged,
    source: sourceOf(output.job.service.api),
  })
  const outputContext = { ...output, listings, context, staging, pool }
  let batches: readonly BatchRows[] | undefined
  return {
    openPageReader: staging.openPageReader,
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
      await fees.close()
      await pool.close()
      await removePartsFolder(folder)
    },
  }
}

/**
 * Adds the rows of a staged page to the progress counts. `finish` replaces them with exact counts of
 * deduplicated rows.
 */
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

/** Merges the range into batches. Rejects on abort; tasks that are still running are stopped by `close`. */
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
  // Frees the memory of the threads before tables are written.
  await pool.close()
  const parts = await writeTables(output, batches, range)
  if (job.keepRaw) await keepRaw({ ...output, to })
  const rejected = await rejectLines(output, batches)
  const rejects = [
    ...new Set([
      ...retainedRejects(previous, { batches, chain: job.chain, source: sourceOf(job.service.api) }),
      ...rejected,
    ]),
  ].sort()
  const names = [...output.listings.keys()]
  const seen = addCounts(batches.map((batch) => seenIn(batch, names)))
  const totalSeen = addCounts([...previous.written.map((one) => Object.entries(one.seen)), seen])
  const unknowns = sumUnknowns(batches.map((batch) => batch.unknowns))
  const decimals = uniteDecimals(batches.map((batch) => batch.decimals))
  stats.written = { ...range, times: timesIn(batches) }
  await publishExport({
    ...output,
    range,
    parts,
    rejects,
    seen: totalSeen,
    unknowns: sumUnknownsIfPresent([...previous.written, unknowns]),
    decimalsConflict: countConflicts([...previous.written, { decimals }]),
    missing: output.checkpoint.missing(),
    gaps: gapsOfExport(output.checkpoint, previous, names),
    opening: openingOfExport(output.checkpoint, previous, names),
    indexedEnds: indexedEnds(job, output.checkpoint),
    refused: stats.refused.map((one) => ({ ...one, toBlock: previous.refusedEnds?.get(one.address) ?? to })),
    begunMs: output.checkpoint.begunMs,
    localPath: async ({ staged = '' }) => staged,
    raw: (covered) => new Set(job.keepRaw ? [...names, ...covered, ...covered.map(atomicListing)] : []),
  })
  const lastMs = stats.written.times?.last
  return { ...range, seen: Object.fromEntries(seen), ...unknowns, decimals, lastMs }
}

/** An export whose checkpoint was removed has only a count. */
function countConflicts(parts: readonly Pick<WrittenRange, 'decimals' | 'decimalsConflict'>[]): number {
  const counted = parts.map(({ decimalsConflict = 0 }) => decimalsConflict)
  return Math.max(countDecimalsConflicts(uniteDecimals(parts.map(({ decimals }) => decimals))), ...counted)
}

/** Returns the batches of the range. Every transaction is in exactly one of them. */
async function mergeAndResolve(
  { staging, pool, context, previous }: OutputContext,
  range: BlockRange,
): Promise<readonly BatchRows[]> {
  const pages = await staging.finish(range)
  const written = new Map<number, BlockRangeBatch>()
  const rewrite = (batch: BlockRangeBatch) => {
    written.set(batch.range.from, batch)
    return pool.run({ kind: 'batch', batch }, totalBytes(batch.pages))
  }
  const batches = await Promise.all(cutBatches(range, pages).map(rewrite))
  const resolved = await resolveReorgedTransactions(batches, { ...context, pages, rewrite })
  const floorMs = previous.written.reduce((ms, { lastMs = 0 }) => Math.max(ms, lastMs), 0)
  return rejectBackwardTimes(resolved, { written, folder: context.folder, floorMs, rewrite })
}

/** Limits how many tables all jobs of the process write concurrently, because each of them takes memory. */
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
  // Starts with the largest table, which takes longest.
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

/** Waits until all promises are settled, then rejects with the first error, if any. */
async function allSettledOrThrow<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}

type KeepRawOptions = {
  job: Job
  checkpoint: Checkpoint
  previous: PreviousExport
  listings: Listings
  /** Exclusive end of the export. */
  to: number
}

/**
 * Writes items as they were received to `raw/`, in chain order, one per line: one file per wallet, or one for
 * all blocks of a blocks job.
 */
async function keepRaw({ job, checkpoint, previous, listings, to }: KeepRawOptions): Promise<void> {
  const pageReader = openPageReader({ pagesFile: checkpoint.path })
  // If pages of earlier runs are no longer in the checkpoint, their items are in the existing file, and the
  // rest is appended.
  const appendFrom = checkpoint.base > job.startBlock ? previous.from : undefined
  const range = { from: appendFrom ?? job.startBlock, to }
  const { chain } = job
  const source = sourceOf(job.service.api)
  const context = { readPage: pageReader.read, source, chain, range, cutoffMs: checkpoint.cutoffMs }
  try {
    for (const [address, bounds] of listings) {
      const records = checkpoint.records(new Map([[address, bounds]]))
      const transactions = mergeItems(
        pagesIn(records, range).map((location) => openPageSource(location, context)),
      )
      const bad = (await badItems(records, { checkpoint, chain, source })).map(({ item }) => item)
      await writeRaw({ folder: job.output, address, source, chain, transactions, bad, appendFrom })
    }
  } finally {
    pageReader.close()
  }
}
