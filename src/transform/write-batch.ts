import type { BlockRange, PartitionBy } from '../core/model/model.ts'
import type { Times } from '../core/model/run-stats.ts'
import { NO_UNKNOWNS, type Unknowns } from '../core/model/unknowns.ts'
import type { TableName } from '../core/table/index.ts'
import { appendLines, type Chunk } from '../files/chunk.ts'
import { createPartitioner } from '../files/partition.ts'
import type { FlatTransaction } from './flatten-transaction.ts'
import type { Flattener } from './flatten-views.ts'
import { fingerprint, fingerprintBytes } from './merge/fingerprints.ts'
import { mergeItems, type TransactionViews } from './merge/merge-items.ts'
import type { ReorgedTransaction } from './merge/page-source.ts'
import type { PageReader } from './open-page-reader.ts'
import { BatchChunks } from './staged/batch-chunks.ts'
import { openStagedReader, type StagedReader } from './staged/read-staged.ts'
import type { StageFiles } from './staged/stage-files.ts'
import { openStagedSource, type StagedItem, type StagedPageLocation } from './staged/staged-source.ts'

/** Blocks, and the pages that may hold their items, their rows made, in the order of receipt. */
export type BlockRangeBatch = {
  range: BlockRange
  pages: readonly StagedPageLocation[]
  /** By hash, transactions that stand in several places. @default none does */
  reorged?: ReadonlyMap<string, ReorgedTransaction>
}

export type BatchRows = {
  range: BlockRange
  transactions: number
  /** Of its transactions; undefined where there is none. */
  times: Times | undefined
  /** Of each table, in order. */
  chunks: ReadonlyMap<TableName, readonly Chunk[]>
  /** Pairs of a listing, by its place among the job's, and its transactions: there may be many of both. */
  seen: Uint32Array
  /** Transactions of which something is unknown. */
  unknowns: Unknowns
  /** Lines of `rejects.ndjson`. */
  rejects: readonly string[]
  /** Transactions whose views tell different facts of the chain; of many, the first are named. */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** Logs that views list in more than one of the ERC lists. */
  repeatedLogs: number
  /** The transactions' fingerprints. */
  hashes: Chunk
}

/** A transaction whose views tell different facts. */
export type Contradiction = {
  hash: string
  /** Where it stands, and each wallet's page shows it. */
  block: number
  views: readonly { wallet: string; block: number }[]
}

/** More contradictions of a slice are counted, not named. */
const MAX_LISTED_CONTRADICTIONS = 1_000

export type BatchContext = {
  files: StageFiles
  flatten: Flattener
  pageReader: PageReader
  /** Where lines are staged. */
  folder: string
  tables: readonly TableName[]
  /** undefined: no partitions. */
  partitionBy?: PartitionBy | undefined
  /** Of the wallets whose rows are made. */
  addresses: readonly string[]
}

/**
 * Puts the rows of a slice in order: those of one wallet's view as they were staged, those of several views made anew from all
 * of them. The same for the same items, however pages and slices are cut. Throws OUTPUT_FAILED.
 */
export function writeBatch(
  { range, pages, reorged }: BlockRangeBatch,
  batchContext: BatchContext,
): BatchRows {
  const reader = openStagedReader(batchContext)
  const writer = new BatchWriter(batchContext, reader)
  try {
    const context = { readIndex: reader.readIndex, range, reorged }
    for (const views of mergeItems(pages.map((page) => openStagedSource(page, context)))) writer.add(views)
    return { range, ...writer.finish() }
  } finally {
    reader.close()
  }
}

/** Takes one transaction after the other and counts what it takes. */
class BatchWriter {
  readonly #writing: BatchContext
  readonly #reader: StagedReader
  readonly #chunks: BatchChunks
  readonly #partitionOf: ReturnType<typeof createPartitioner> | undefined
  readonly #seen = new Map<string, number>()
  readonly #rejects: string[] = []
  readonly #fingerprints: number[] = []
  readonly #unknowns: Unknowns = { ...NO_UNKNOWNS }
  readonly #contradictions: Contradiction[] = []
  #contradicted = 0
  #repeatedLogs = 0
  #transactions = 0
  #times: Times | undefined

  constructor(context: BatchContext, reader: StagedReader) {
    const { files, folder, partitionBy } = context
    this.#writing = context
    this.#reader = reader
    this.#chunks = new BatchChunks({ files, reader, folder })
    this.#partitionOf = partitionBy === undefined ? undefined : createPartitioner(partitionBy)
  }

  add(views: TransactionViews<StagedItem>): void {
    const [view] = views
    this.#fingerprints.push(fingerprint(view.key.hash))
    if (views.length === 1) this.#addStaged(view)
    else this.#addUnited(views)
  }

  finish(): Omit<BatchRows, 'range'> {
    const { files, addresses } = this.#writing
    const indexOf = new Map(addresses.map((address, at) => [address, at]))
    const seen = [...this.#seen].flatMap(([listing, count]) => [indexOf.get(listing) ?? 0, count])
    return {
      transactions: this.#transactions,
      times: this.#times,
      chunks: this.#chunks.finish(),
      seen: Uint32Array.from(seen),
      unknowns: this.#unknowns,
      rejects: this.#rejects,
      contradicted: this.#contradicted,
      contradictions: this.#contradictions,
      repeatedLogs: this.#repeatedLogs,
      hashes: stageHashes(this.#fingerprints, files),
    }
  }

  #addStaged(item: StagedItem): void {
    const { page, at, key, wallet } = item
    const { rejects, isNormalized, timeMs, isStatusUnknown, isFeeUnknown, repeatedLogs } = page.index
    for (const [of, count] of repeatedLogs) if (of === at) this.#repeatedLogs += count
    for (const [of, line] of rejects) if (of === at) this.#rejects.push(line)
    if (isNormalized[at])
      this.#begin({
        ...{ block: key.block, timeMs: timeMs[at] ?? 0, seenBy: [wallet] },
        ...{ isStatusUnknown: isStatusUnknown[at] === true, isFeeUnknown: isFeeUnknown[at] === true },
      })
    this.#chunks.addStaged(item)
  }

  #addUnited(views: TransactionViews<StagedItem>): void {
    const { flatten } = this.#writing
    const items = views.map((view) => {
      return { ...view, item: this.#reader.readItem(view), run: view.page.location.run }
    })
    const flat = flatten(items, (line) => this.#rejects.push(line))
    if (flat === undefined) return
    this.#repeatedLogs += flat.repeatedLogs
    if (flat.isContradicted) this.#noteContradiction(views)
    const { block_number: block, block_timestamp: timeMs } = flat.prefix
    this.#begin({ ...flat, block: Number(block), timeMs })
    this.#chunks.addRows(flat)
  }

  #noteContradiction(views: TransactionViews<StagedItem>): void {
    this.#contradicted += 1
    if (this.#contradictions.length >= MAX_LISTED_CONTRADICTIONS) return
    const { hash, block } = views[0].key
    const seen = views.map(({ wallet, page, at }) => ({ wallet, block: page.index.block[at] ?? block }))
    this.#contradictions.push({ hash, block, views: seen })
  }

  #begin({ block, timeMs, seenBy, isStatusUnknown, isFeeUnknown }: TransactionStart): void {
    this.#transactions += 1
    if (isStatusUnknown) this.#unknowns.statusUnknown += 1
    if (isFeeUnknown) this.#unknowns.feeUnknown += 1
    this.#times = { first: this.#times?.first ?? timeMs, last: timeMs }
    for (const wallet of seenBy) this.#seen.set(wallet, (this.#seen.get(wallet) ?? 0) + 1)
    if (this.#partitionOf !== undefined) this.#chunks.startPartition(this.#partitionOf(block, timeMs))
  }
}

type TransactionStart = Pick<FlatTransaction, 'seenBy' | 'isStatusUnknown' | 'isFeeUnknown'> & {
  block: number
  timeMs: number
}

/** When the first and the last transaction of all slices were made; undefined where there is none. */
export function timesIn(batches: readonly BatchRows[]): Times | undefined {
  const all = batches.flatMap(({ times }) => times ?? [])
  if (all.length === 0) return undefined
  const [firsts, lasts] = [all.map(({ first }) => first), all.map(({ last }) => last)]
  return { first: firsts.reduce((a, b) => Math.min(a, b)), last: lasts.reduce((a, b) => Math.max(a, b)) }
}

/** Transactions by listing. */
export function seenIn({ seen }: Pick<BatchRows, 'seen'>, listings: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (let at = 0; at < seen.length; at += 2) counts.set(listings[seen[at] ?? 0] ?? '', seen[at + 1] ?? 0)
  return counts
}

function stageHashes(fingerprints: readonly number[], { hashes }: StageFiles): Chunk {
  return appendLines(hashes, {
    bytes: fingerprintBytes(fingerprints),
    rows: fingerprints.length,
    maxLineBytes: 0,
  })
}
