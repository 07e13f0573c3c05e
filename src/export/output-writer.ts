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
import { sumChunks } from '../files/chunk.ts'
import { writeRaw } from '../files/raw.ts'
import { type Part, writeTable } from '../files/write-table.ts'
import { sourceOf } from '../sources/index.ts'
import type { Store } from '../storage/store.ts'
import { cutBatches, pagesIn, totalBytes } from '../transform/batches.ts'
import type { FeeResolver } from '../transform/fees.ts'
import { mergeItems } from '../transform/merge/merge-items.ts'
import { openPageSource } from '../transform/merge/page-items.ts'
import { openPageReader } from '../transform/page-reader.ts'
import { badItems, rejectLines, retainedRejects } from '../transform/rejects.ts'
import type { StagedPageLocation } from '../transform/staged/read-staged.ts'
import type { StagedPage } from '../transform/staged/stage-page.ts'
import { createStaging, type Staging } from '../transform/staging.ts'
import { openWritePool } from '../transform/threads/pool.ts'
import { type WriteContext, writeContext } from '../transform/threads/task.ts'
import {
  type BatchRows,
  type BlockRangeBatch,
  type Contradiction,
  seenIn,
  timesIn,
} from '../transform/write-batch.ts'
import { writeBatches } from '../transform/write-batches.ts'
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
  /** Stages the rows of the blocks before `end` that are not staged yet. */
  stage(end: number): Promise<void>
  /** Puts the staged rows in order. */
  merge(): Promise<MergeResult>
  /** Creates the files of the merged rows and publishes them. Throws OUTPUT_FAILED. */
  publish(): Promise<WrittenRange>
  /** Aborts running tasks and deletes the staging files. */
  close(): Promise<void>
}

export type MergeResult = {
  /** Every transaction is in exactly one of them. Their files are readable until the output is closed. */
  batches: readonly BatchRows[]
  /**
   * Number of transactions whose views contradict each other. `contradictions` lists the first of each batch.
   */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** Transactions that retained files of earlier runs also contain; undefined if there are none. */
  alreadyExported: AlreadyExported | undefined
}

/**
 * Opens the writer for the pages that are in the checkpoint and that will be added to it. Sends no requests.
 */
export async function openOutputWriter(options: OutputOptions): Promise<OutputWriter> {
  const { job, checkpoint, previous, stats, signal, fees } = options
  const { from } = previous
  const folder = await makePartsFolder(join(job.output, PRIVATE_FOLDER))
  const listings = listingsToRead(job, previous)
  const wallets = [...job.wallets, ...removedWallets(job, previous)]
  const source = sourceOf(job.service.api)
  const context = writeContext({ job, checkpoint, listings, wallets, from, folder, fees: fees.current() })
  const pool = openWritePool(context)
  // Progress only: `publish` counts the rows exactly, without duplicates.
  const onStaged = ({ transactions, rows }: StagedPage) => {
    stats.transactions += transactions
    addRows(stats.rows, rows)
  }
  const staging = createStaging({ checkpoint, listings, from, pool, fees, folder, onStaged, source })
  const range = { from, to: from }
  let pages: readonly StagedPageLocation[] = []
  let batches: readonly BatchRows[] = []
  return {
    openPageReader: staging.openPageReader,
    onPageStored: staging.onPageStored,
    // Tasks that still run after an abort are stopped by `close`.
    stage: async (end) => {
      range.to = end
      pages = await raceAbort(staging.finish(range), signal)
    },
    merge: async () => {
      const floorMs = previous.written.reduce((ms, { lastMs = 0 }) => Math.max(ms, lastMs), 0)
      const write = (batch: BlockRangeBatch) => pool.run({ kind: 'batch', batch }, totalBytes(batch.pages))
      const merging = writeBatches(cutBatches(range, pages), { pages, folder, floorMs, write })
      batches = await raceAbort(merging, signal)
      return {
        batches,
        contradicted: batches.reduce((sum, { contradicted }) => sum + contradicted, 0),
        contradictions: batches.flatMap(({ contradictions }) => contradictions),
        alreadyExported: await findAlreadyExported(options, batches),
      }
    },
    publish: async () => {
      Object.assign(stats, countRows(batches))
      await storeHashes(options, range, batches)
      // Frees the memory of the threads before tables are written.
      await pool.close()
      const parts = await writeTables(job, context, { batches, range, signal })
      return publishRows(options, { listings, batches, range, parts })
    },
    close: async () => {
      await fees.close()
      await pool.close()
      await removePartsFolder(folder)
    },
  }
}

type RowCounts = RunStats['rows']

function addRows(sum: RowCounts, rows: RowCounts): void {
  for (const table of Object.keys(rows) as TableName[]) sum[table] = (sum[table] ?? 0) + (rows[table] ?? 0)
}

function countRows(batches: readonly BatchRows[]): Pick<RunStats, 'transactions' | 'repeatedLogs' | 'rows'> {
  const counts = { transactions: 0, repeatedLogs: 0, rows: {} as RowCounts }
  for (const { chunks, transactions, repeatedLogs } of batches) {
    counts.transactions += transactions
    counts.repeatedLogs += repeatedLogs
    for (const [table, all] of chunks) addRows(counts.rows, { [table]: sumChunks(all).rows })
  }
  return counts
}

type MergedRows = {
  listings: Listings
  batches: readonly BatchRows[]
  range: BlockRange
  parts: ReadonlyMap<TableName, readonly Part[]>
}

async function publishRows(
  options: OutputOptions,
  { listings, batches, range, parts }: MergedRows,
): Promise<WrittenRange> {
  const { job, checkpoint, stats, previous } = options
  const { chain, keepRaw } = job
  const source = sourceOf(job.service.api)
  if (keepRaw) await writeRawItems(options, listings, range.to)
  const retained = retainedRejects(previous, { batches, chain, source })
  const rejects = [
    ...new Set([...retained, ...(await rejectLines({ ...options, listings }, batches))]),
  ].sort()
  const names = [...listings.keys()]
  const seen = addCounts(batches.map((batch) => seenIn(batch, names)))
  const unknowns = sumUnknowns(batches.map((batch) => batch.unknowns))
  const decimals = uniteDecimals(batches.map((batch) => batch.decimals))
  stats.written = { ...range, times: timesIn(batches) }
  await publishExport({
    ...options,
    range,
    parts,
    rejects,
    seen: addCounts([...previous.written.map((earlier) => Object.entries(earlier.seen)), seen]),
    unknowns: sumUnknownsIfPresent([...previous.written, unknowns]),
    decimalsConflict: countConflicts([...previous.written, { decimals }]),
    missing: checkpoint.missing(),
    gaps: gapsOfExport(checkpoint, previous, names),
    opening: openingOfExport(checkpoint, previous, names),
    indexedEnds: indexedEnds(job, checkpoint),
    refused: stats.refused.map((wallet) => {
      return { ...wallet, toBlock: previous.refusedEnds?.get(wallet.address) ?? range.to }
    }),
    begunMs: checkpoint.begunMs,
    localPath: async ({ staged = '' }) => staged,
    raw: (covered) => new Set(keepRaw ? [...names, ...covered, ...covered.map(atomicListing)] : []),
  })
  const lastMs = stats.written.times?.last
  return { ...range, seen: Object.fromEntries(seen), ...unknowns, decimals, lastMs }
}

/** An export whose checkpoint was removed has only a count. */
function countConflicts(parts: readonly Pick<WrittenRange, 'decimals' | 'decimalsConflict'>[]): number {
  const counted = parts.map(({ decimalsConflict = 0 }) => decimalsConflict)
  return Math.max(countDecimalsConflicts(uniteDecimals(parts.map(({ decimals }) => decimals))), ...counted)
}

/** Limits how many jobs of the process write a table at the same time, because a table takes memory. */
const limitJobs = limitConcurrency(2)

/** Writes one table after the other: two at the same time take a third more memory, and no less processor time. */
async function writeTables(
  job: Job,
  { folder, tables }: WriteContext,
  { batches, range, signal }: { batches: readonly BatchRows[]; range: BlockRange; signal: AbortSignal },
): Promise<Map<TableName, Part[]>> {
  const parts = new Map<TableName, Part[]>()
  for (const name of tables) {
    const chunks = batches.flatMap((batch) => batch.chunks.get(name) ?? [])
    const files = { ...job, folder, table: tableByName(name), chunks, range, signal }
    const written = await limitJobs(() => {
      signal.throwIfAborted()
      return writeTable(files)
    })
    parts.set(name, written)
  }
  return parts
}

/**
 * Writes items as they were received to `raw/`, in chain order, one per line: one file per wallet, or one for
 * all blocks of a blocks job.
 */
async function writeRawItems(
  { job, checkpoint, previous }: OutputOptions,
  listings: Listings,
  to: number,
): Promise<void> {
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
