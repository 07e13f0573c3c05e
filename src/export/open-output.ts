import { join } from 'node:path'
import type { Spool } from '../checkpoint/checkpoint.ts'
import type { Written } from '../checkpoint/checkpoint-state.ts'
import { sumCounts } from '../core/model/add-counts.ts'
import type { Listings } from '../core/model/listings.ts'
import { PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange, Job } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import type { Figures } from '../core/model/run-stats.ts'
import { sumIfCounted, sumUnknowns } from '../core/model/unknowns.ts'
import { orAborted } from '../core/platform/abort-signal.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type TableName, tableNamed } from '../core/table/index.ts'
import { type Chunk, sumOf } from '../files/chunk.ts'
import { assembleTable, type Part } from '../files/write-table.ts'
import type { Store } from '../storage/store.ts'
import { bytesOf, cutSlices } from '../transform/batches.ts'
import { rejectLines, stayingRejects } from '../transform/rejects.ts'
import { settleMoved } from '../transform/resolve-reorged.ts'
import type { StagedPage } from '../transform/staged/stage-page.ts'
import { createStaging, type Staging } from '../transform/staging.ts'
import { openWritePool, type WritePool } from '../transform/threads/pool.ts'
import type { WriteContext } from '../transform/threads/task.ts'
import { type Contradiction, type Slice, type SliceRows, seenIn, timesIn } from '../transform/write-batch.ts'
import { writeContext } from '../transform/write-context.ts'
import { keepRaw } from './keep-raw.ts'
import { publishExport } from './publish-export.ts'
import { type ExportedBefore, findExportedBefore, keepHashes } from './resume/already-exported.ts'
import { type Earlier, leftWallets, listingsToRead } from './resume/previous-export.ts'

export type Output = {
  job: Job
  store: Store
  spool: Spool
  figures: Figures
  signal: AbortSignal
  /** What an earlier run has exported, and the block from which on this one writes. */
  earlier: Earlier
}

/** The writing of one job: rows are made while pages arrive, files once all of them are there. */
export type OutputWriter = Pick<Staging, 'readPage' | 'pageArrived'> & {
  /** Puts the rows of the blocks up to the end in order, and tells what has to be read again before they are published. */
  arrange(end: number): Promise<Arranged>
  /** Makes the files of the blocks up to the end, as they were arranged, and publishes them. Throws OUTPUT_FAILED. */
  finish(end: number): Promise<Written>
  /** Gives up what is under way and removes what was staged. */
  close(): Promise<void>
}

export type Arranged = {
  /** Transactions whose views tell different facts of the chain; of many, the first are named. */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** The fingerprints of all transactions; they can be read until the output is closed. */
  hashes: readonly Chunk[]
  /** Transactions of these blocks that files of earlier runs hold too. */
  exportedBefore: ExportedBefore | undefined
}

/** Opens the writing of what the spool holds and will hold. Asks the service nothing. */
export async function openOutput(output: Output): Promise<OutputWriter> {
  const folder = await makePartsFolder(join(output.job.output, PRIVATE_FOLDER))
  const { spool, earlier, figures } = output
  const listings = listingsToRead(output.job, earlier)
  const wallets = [...output.job.wallets, ...leftWallets(output.job, earlier)]
  const context = writeContext({ ...output, listings, wallets, from: earlier.from, folder })
  const pool = openWritePool(context)
  const onStaged = (page: StagedPage) => noteStaged(figures, page)
  const staging = createStaging({ spool, listings, from: earlier.from, pool, onStaged })
  const finishing = { ...output, listings, context, staging, pool }
  let slices: readonly SliceRows[] | undefined
  return {
    readPage: staging.readPage,
    pageArrived: staging.pageArrived,
    arrange: async (end) => {
      slices = await arrangeSlices(finishing, { from: earlier.from, to: end })
      return describeSlices(finishing, slices)
    },
    finish: async (end) => {
      slices ??= await arrangeSlices(finishing, { from: earlier.from, to: end })
      return finish(finishing, { from: earlier.from, to: end }, slices)
    },
    close: async () => {
      await pool.close()
      await removePartsFolder(folder)
    },
  }
}

/** Counts the rows that pages have; of a transaction that several wallets see they are counted anew in the end. */
function noteStaged(figures: Figures, { transactions, rows }: StagedPage): void {
  figures.transactions += transactions
  addRows(figures.rows, rows)
}

type RowCounts = Figures['rows']

function addRows(sum: RowCounts, rows: RowCounts): void {
  for (const table of Object.keys(rows) as TableName[]) sum[table] = (sum[table] ?? 0) + (rows[table] ?? 0)
}

function countRows(slices: readonly SliceRows[]): Pick<Figures, 'transactions' | 'repeatedLogs' | 'rows'> {
  const rows: RowCounts = {}
  for (const { chunks } of slices)
    addRows(rows, Object.fromEntries([...chunks].map(([table, all]) => [table, sumOf(all).rows])))
  const sum = (count: (slice: SliceRows) => number) => slices.reduce((all, slice) => all + count(slice), 0)
  return {
    transactions: sum(({ transactions }) => transactions),
    repeatedLogs: sum(({ repeatedLogs }) => repeatedLogs),
    rows,
  }
}

type Finishing = Output & {
  listings: Listings
  context: WriteContext
  staging: Staging
  pool: WritePool
}

/** The slices of the range. What is under way at an abort is given up when the output is closed. */
function arrangeSlices(finishing: Finishing, range: BlockRange): Promise<readonly SliceRows[]> {
  return orAborted(settledSlices(finishing, range), finishing.signal)
}

async function describeSlices(finishing: Finishing, slices: readonly SliceRows[]): Promise<Arranged> {
  return {
    contradicted: slices.reduce((sum, slice) => sum + slice.contradicted, 0),
    contradictions: slices.flatMap((slice) => slice.contradictions),
    hashes: slices.map(({ hashes }) => hashes),
    exportedBefore: await findExportedBefore(finishing, slices),
  }
}

async function finish(
  finishing: Finishing,
  range: BlockRange,
  slices: readonly SliceRows[],
): Promise<Written> {
  const { job, figures, earlier, pool } = finishing
  const { to } = range
  Object.assign(figures, countRows(slices))
  await keepHashes(finishing, range, slices)
  // The memory of its threads goes before tables ask for some.
  await pool.close()
  const parts = await assembleTables(finishing, slices, range)
  if (job.keepRaw) await keepRaw({ ...finishing, to })
  const rejected = await rejectLines(finishing, slices)
  const rejects = [...new Set([...stayingRejects(earlier, { slices, chain: job.chain }), ...rejected])].sort()
  const names = [...finishing.listings.keys()]
  const seen = sumCounts(slices.map((slice) => seenIn(slice, names)))
  const everSeen = sumCounts([...earlier.written.map((one) => Object.entries(one.seen)), seen])
  const unknowns = sumUnknowns(slices.map((slice) => slice.unknowns))
  figures.written = { ...range, times: timesIn(slices) }
  await publishExport({
    ...finishing,
    range,
    parts,
    rejects,
    seen: everSeen,
    unknowns: sumIfCounted([...earlier.written, unknowns]),
    missing: finishing.spool.missing(),
    refused: figures.refused.map((one) => ({ ...one, toBlock: earlier.ends?.get(one.address) ?? to })),
    begunMs: finishing.spool.begunMs,
    localPath: async ({ staged = '' }) => staged,
    raw: (covered) => new Set(job.keepRaw ? [...names, ...covered] : []),
  })
  return { ...range, seen: Object.fromEntries(seen), ...unknowns }
}

/** The slices of the range, every transaction in one of them. */
async function settledSlices(
  { staging, pool, context }: Finishing,
  range: BlockRange,
): Promise<readonly SliceRows[]> {
  const places = await staging.finish(range)
  const write = (slice: Slice) => pool.run({ kind: 'slice', slice }, bytesOf(slice.places))
  const slices = await Promise.all(cutSlices(range, places).map(write))
  return settleMoved(slices, { ...context, places, rewrite: write })
}

/** Tables made at once, all jobs of the process together: each takes memory. */
const limitTables = limitConcurrency(2)

async function assembleTables(
  { job, context: { folder, tables: names }, signal }: Finishing,
  slices: readonly SliceRows[],
  range: BlockRange,
): Promise<Map<TableName, Part[]>> {
  const { compression, escapeFormulas, maxRowsPerFile, targetFileBytes } = job
  const format = { format: job.format, compression, escapeFormulas, maxRowsPerFile, targetFileBytes, folder }
  const tables = names.map((name) => {
    const chunks = slices.flatMap((slice) => slice.chunks.get(name) ?? [])
    return { name, chunks, bytes: sumOf(chunks).bytes }
  })
  // The largest first: it takes longest, and others can be made meanwhile.
  const bySize = [...tables].sort((a, b) => b.bytes - a.bytes)
  const work = bySize.map(({ name, chunks }) =>
    limitTables(async () => {
      signal.throwIfAborted()
      return [
        name,
        await assembleTable({ ...format, table: tableNamed(name), chunks, range, signal }),
      ] as const
    }),
  )
  const made = new Map(await allOf(work))
  return new Map(names.map((name) => [name, made.get(name) ?? []]))
}

/** Waits for all of them to end, then rejects with the first failure. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
