import { compareKeys } from '../core/model/item-key.ts'
import { isAtomicListing } from '../core/model/listings.ts'
import type { BlockRange, PartitionBy } from '../core/model/model.ts'
import type { Times } from '../core/model/run-stats.ts'
import { type DecimalsOfRow, groupDecimals, type TokenDecimals } from '../core/model/token-decimals.ts'
import { NO_UNKNOWNS, type Unknowns } from '../core/model/unknowns.ts'
import type { TableName } from '../core/table/index.ts'
import { appendLines, type Chunk } from '../files/chunk.ts'
import { createPartitioner } from '../files/part-path.ts'
import type { Source } from '../sources/source.ts'
import type { Flattener } from './flatten-views.ts'
import { fingerprint, fingerprintBytes } from './merge/fingerprints.ts'
import { groupOverlapping, mergeItems, type TransactionViews } from './merge/merge-items.ts'
import type { ChainPosition, ReorgedTransaction } from './merge/page-items.ts'
import type { PageReader } from './page-reader.ts'
import { BatchChunks } from './staged/batch-chunks.ts'
import { hasFlag } from './staged/page-index.ts'
import {
  isAtRejectedTime,
  openStagedReader,
  openStagedSource,
  type RejectedTimes,
  type StagedItem,
  type StagedPageLocation,
  type StagedReader,
} from './staged/read-staged.ts'
import type { StageFiles } from './staged/stage-page.ts'

/**
 * A block range and the staged pages that may contain its items, in the order in which they were received.
 */
export type BlockRangeBatch = {
  range: BlockRange
  pages: readonly StagedPageLocation[]
  /** By hash, transactions that have several chain positions. @default none */
  reorged?: ReadonlyMap<string, ReorgedTransaction>
  /** @default none */
  rejectedTimes?: RejectedTimes
}

export type BatchRows = {
  range: BlockRange
  transactions: number
  /** The times of its oldest and newest transaction; undefined if it has none. */
  times: Times | undefined
  /** Whether no block is older than an earlier one. */
  isAscending: boolean
  /** By table, in chain order. */
  chunks: ReadonlyMap<TableName, readonly Chunk[]>
  /**
   * Transactions per listing, as pairs of numbers: index of the listing in the job, count. Compact, because a
   * job may have many listings and batches. Decoded by `seenIn`.
   */
  seen: Uint32Array
  /** Counts of transactions with an unknown status or fee. */
  unknowns: Unknowns
  /** The decimals in the rows of its pages. */
  decimals: TokenDecimals
  /** Lines of `rejects.ndjson`. */
  rejects: readonly string[]
  /**
   * Number of transactions whose views contradict each other. `contradictions` lists the first 1,000 of them.
   */
  contradicted: number
  contradictions: readonly Contradiction[]
  /** Number of logs that a view lists in more than one of the ERC lists. */
  repeatedLogs: number
  /** Location of the fingerprints of the transactions that have rows. */
  hashes: Chunk
}

/** A transaction whose views contradict each other. */
export type Contradiction = {
  hash: string
  /** The block in which the transaction is exported. `views` has the block in each wallet's listing. */
  block: number
  views: readonly { wallet: string; block: number }[]
}

/** Further contradictions of a batch are counted but not listed. */
const MAX_LISTED_CONTRADICTIONS = 1_000

export type BatchContext = {
  files: StageFiles
  flatten: Flattener
  pageReader: PageReader
  source: Source
  /** Folder of the staging files. */
  folder: string
  tables: readonly TableName[]
  /** @default no partitions */
  partitionBy?: PartitionBy | undefined
  /** Addresses of the wallets whose rows are built. */
  addresses: readonly string[]
}

/**
 * Writes the rows of a batch in chain order. Staged lines are used for transactions with one view; rows of
 * transactions with several views are built again from the union of the views. The concatenated rows of all
 * batches do not depend on how items are divided into pages and batches.
 *
 * @throws OUTPUT_FAILED if a staging file cannot be read or written
 */
export function writeBatch(
  { range, pages, reorged, rejectedTimes }: BlockRangeBatch,
  batchContext: BatchContext,
): BatchRows {
  const reader = openStagedReader(batchContext)
  const writer = new BatchWriter(batchContext, reader, rejectedTimes)
  try {
    const decimals: DecimalsOfRow[] = []
    const readIndex: StagedReader['readIndex'] = (location) => {
      const index = reader.readIndex(location)
      for (const entry of index.decimals) decimals.push(entry)
      return index
    }
    const context = { readIndex, range, reorged, rejectedTimes }
    for (const group of groupOverlapping(pages.map((page) => openStagedSource(page, context)))) {
      if (group.length === 1) writer.addPage(group[0].load())
      else for (const views of mergeItems(group)) writer.add(views)
    }
    return { range, ...writer.finish(), decimals: groupDecimals(decimals) }
  } finally {
    reader.close()
  }
}

/** Adds transactions in chain order and collects the counts of a batch. */
class BatchWriter {
  readonly #context: BatchContext
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
  #times: { first: number; last: number } | undefined
  readonly #rejectedTimes: RejectedTimes | undefined
  #isAscending = true
  /** The newest second of the blocks before the current one, and of the current one. */
  #newest = { before: 0, block: -1, second: 0 }

  constructor(context: BatchContext, reader: StagedReader, rejectedTimes?: RejectedTimes) {
    this.#rejectedTimes = rejectedTimes
    const { files, folder, partitionBy } = context
    this.#context = context
    this.#reader = reader
    this.#chunks = new BatchChunks({ files, reader, folder })
    this.#partitionOf = partitionBy === undefined ? undefined : createPartitioner(partitionBy)
  }

  /** Adds the items of a page that overlaps no other. If it contains a transaction twice, the last item counts. */
  addPage(items: readonly StagedItem[]): void {
    for (let at = 0; at < items.length; at += 1) {
      const [item, next] = [items[at] as StagedItem, items[at + 1]]
      if (next === undefined || compareKeys(item.key, next.key) !== 0) this.add([item])
    }
  }

  add(views: TransactionViews<StagedItem>): void {
    const [view] = views
    if (views.length === 1 && !isAtRejectedTime(view, this.#rejectedTimes)) this.#addStaged(view)
    else this.#addUnion(views)
  }

  finish(): Omit<BatchRows, 'range' | 'decimals'> {
    const { files, addresses } = this.#context
    const indexOf = new Map(addresses.map((address, at) => [address, at]))
    const seen = [...this.#seen].flatMap(([listing, count]) => [indexOf.get(listing) ?? 0, count])
    return {
      transactions: this.#transactions,
      times: this.#times,
      isAscending: this.#isAscending,
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
    const { index } = page
    for (const [of, count] of index.repeatedLogs) if (of === at) this.#repeatedLogs += count
    for (const [of, line] of index.rejects) if (of === at) this.#rejects.push(line)
    if (hasFlag(index, at, 'isNormalized')) {
      if (hasFlag(index, at, 'isStatusUnknown')) this.#unknowns.statusUnknown += 1
      if (hasFlag(index, at, 'isFeeUnknown')) this.#unknowns.feeUnknown += 1
      if (hasFlag(index, at, 'isFeeUpperBound')) this.#unknowns.feesUpperBound += 1
      this.#countWallet(wallet)
      this.#countTransaction(key, index.timeMs[at] ?? 0, isAtomicListing(wallet))
    }
    this.#chunks.addStaged(item)
  }

  #addUnion(views: TransactionViews<StagedItem>): void {
    const { flatten } = this.#context
    const items = views.map((view) => {
      const problem = isAtRejectedTime(view, this.#rejectedTimes) ? BACKWARD_TIME : undefined
      return { ...view, item: this.#reader.readItem(view), run: view.page.location.run, problem }
    })
    const flat = flatten(items, (line) => this.#rejects.push(line))
    if (flat === undefined) return
    this.#repeatedLogs += flat.repeatedLogs
    if (flat.isContradicted) this.#recordContradiction(views)
    if (flat.isStatusUnknown) this.#unknowns.statusUnknown += 1
    if (flat.isFeeUnknown) this.#unknowns.feeUnknown += 1
    if (flat.isFeeUpperBound) this.#unknowns.feesUpperBound += 1
    for (const wallet of flat.seenBy) this.#countWallet(wallet)
    this.#countTransaction(views[0].key, flat.prefix.block_timestamp, flat.seenBy.some(isAtomicListing))
    this.#chunks.addRows(flat)
  }

  #recordContradiction(views: TransactionViews<StagedItem>): void {
    this.#contradicted += 1
    if (this.#contradictions.length >= MAX_LISTED_CONTRADICTIONS) return
    const { hash, block } = views[0].key
    const seen = views.map(({ wallet, page, at }) => ({ wallet, block: page.index.block[at] ?? block }))
    this.#contradictions.push({ hash, block, views: seen })
  }

  #compareTime(block: number, second: number): void {
    const newest = this.#newest
    if (block !== newest.block) {
      newest.before = Math.max(newest.before, newest.second)
      newest.block = block
      newest.second = second
    } else if (second > newest.second) newest.second = second
    if (second < newest.before) this.#isAscending = false
  }

  #countWallet(wallet: string): void {
    this.#seen.set(wallet, (this.#seen.get(wallet) ?? 0) + 1)
  }

  #countTransaction({ block, hash }: ChainPosition, timeMs: number, isAtomic: boolean): void {
    this.#fingerprints.push(fingerprint(hash))
    // `transactions` and `wallet_transactions` do not contain atomic transactions.
    if (!isAtomic) this.#transactions += 1
    this.#compareTime(block, Math.floor(timeMs / 1000))
    this.#times ??= { first: timeMs, last: timeMs }
    if (timeMs < this.#times.first) this.#times.first = timeMs
    if (timeMs > this.#times.last) this.#times.last = timeMs
    if (this.#partitionOf !== undefined) this.#chunks.startPartition(this.#partitionOf(block, timeMs))
  }
}

const BACKWARD_TIME = 'its block is older than an earlier block'

/** Returns the times of the first and the last transaction of all batches; undefined if there are none. */
export function timesIn(batches: readonly BatchRows[]): Times | undefined {
  const all = batches.flatMap(({ times }) => times ?? [])
  if (all.length === 0) return undefined
  const [firsts, lasts] = [all.map(({ first }) => first), all.map(({ last }) => last)]
  return { first: firsts.reduce((a, b) => Math.min(a, b)), last: lasts.reduce((a, b) => Math.max(a, b)) }
}

/** Decodes `seen`: the number of transactions by listing. */
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
