import type { Gap } from '../core/model/gaps.ts'
import type { Listings } from '../core/model/listings.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { BlockCheckpoint } from './block-checkpoint.ts'
import type { BlockTime } from './block-times.ts'
import {
  applyDropped,
  applyHashes,
  applyLimit,
  applyReopened,
  type CheckpointState,
  hashesKey,
  type WrittenRange,
} from './checkpoint-state.ts'
import type { FeeCheckpoint } from './fees.ts'
import { blocksOfPages, type PageRecord, type RereadPages } from './listing-state.ts'
import type { RecordLocation, RecordLog, WholeRecordLocation } from './record-log.ts'

/** A received page. */
export type CheckpointPage = {
  body: Buffer
  items: number
  blocks: { min: number; max: number } | undefined
  head: number | undefined
  /**
   * The newest block that the service had indexed when it gave all answers of the page, as these show; null if they show
   * none. @default `head`
   */
  indexed?: number | null | undefined
  /** Times of some of its blocks, from which lookbacks are derived. @default none */
  times?: readonly BlockTime[] | undefined
  /** Number of items without a valid chain position. */
  bad: number
  /** Number of items that may be newer than the run's cutoff. @default 0 */
  afterCutoff?: number
  /** Blocks that are completely read once this page is stored. */
  covered: BlockRange
  /** Blocks among them that the service could not list completely. @default none */
  gaps?: readonly Gap[]
  /** Coins that the wallet held before its first transaction, in the smallest unit, if the page states them. @default none */
  opening?: string
}

/** The checkpoint of a run: every page it has received, and the blocks that remain to be requested. */
export type Checkpoint = BlockCheckpoint &
  RereadState &
  FeeCheckpoint & {
    /** Path of the log. The locations of `records` refer to it. */
    path: string
    /**
     * Cutoff in milliseconds since 1970: newer transactions are left to a later run. Infinity with an
     * endBlock.
     */
    readonly cutoffMs: number
    /** Lowers the cutoff. Pages that were read before must not have been added. */
    lowerCutoff(cutoffMs: number): Promise<void>
    /** Start of the run in milliseconds since 1970. Does not change when the run is resumed. */
    begunMs: number
    /** Whether an unfinished run is being resumed. */
    resumed: boolean
    /**
     * Block ranges of a listing that no page has covered yet.
     *
     * @param bounds only blocks within this range @default all blocks
     */
    remaining(listing: string, bounds?: BlockRange): readonly BlockRange[]
    /**
     * The block up to which pages cover a listing, exclusive, if the current run has begun to read it or no
     * run has ever read it. Infinity if only earlier runs have read it; their exported rows stay valid then.
     */
    coveredTo(listing: string): number
    /** Blocks of a listing that pages cover although the service could not list them completely. */
    gaps(listing: string): readonly Gap[]
    /** Coins that a wallet held before its first transaction; undefined if no page states them. */
    opening(listing: string): string | undefined
    /**
     * The service had indexed the blocks before this one when it answered for the newest blocks of the listing: it is the
     * highest of the newest block in that answer and `indexedAtStart`. A block that another wallet has shown meanwhile
     * would be a proof too, but which one has would depend on the order of the responses.
     */
    indexedTo(listing: string): number
    /** The service had indexed the blocks before this one when the run began: the end of the previous export, or a proof. */
    indexedAtStart(): number
    /** Records that the service has indexed the blocks before this one. Pages that were added before do not benefit from it. */
    addProof(indexedTo: number): Promise<void>
    /** Appends a page. Resolves with the location of its body once the page is written. */
    addPage(wallet: string, page: CheckpointPage): Promise<RecordLocation>
    /** The stored pages of these listings, per listing in the order in which they were received. */
    records(listings: Listings): PageRecord[]
    /** The highest block received that is older than the cutoff; undefined if there is none. */
    head(): number | undefined
    /**
     * Returns the exclusive end of the run, which is the same for all wallets and for every resume. Without
     * an endBlock, the first call pins it to one past the head, or to `minEnd` if that is higher. If the head
     * moved between two processes of the run, wallets whose newest blocks were read by the earlier process
     * get the blocks from there up to the end as `remaining` again.
     */
    pinEndBlock(minEnd?: number): Promise<number>
    /** Reads the body at a location; for coalesced block pages, all bodies as one JSON list. */
    read(location: RecordLocation): Promise<Buffer>
    /** Blocks before this one were written by runs whose pages are no longer in the checkpoint. */
    base: number
    /** First block that the run requests of wallets that earlier runs have read. */
    from: number
    /** The pages of a listing before and after the current run read its last blocks again. */
    rereadPages(listing: string): RereadPages
    /** Ranges that runs have written, in ascending order. */
    written(): readonly WrittenRange[]
    /**
     * Ends the run after its files are published. The pages are retained, so that a later run can continue
     * from here.
     */
    finish(written: WrittenRange): Promise<void>
    close(): Promise<void>
  }

/**
 * The part of a checkpoint that lets a run read blocks again, because of a reorg, a contradiction or damaged
 * pages.
 */
export type RereadState = {
  /** Blocks of a listing that the run reads again in addition to the lookback. */
  reopened(listing: string): readonly BlockRange[]
  /**
   * Reopens blocks of a listing: this run reads them again, and earlier items of these blocks are ignored.
   */
  reopen(listing: string, range: BlockRange): Promise<void>
  /**
   * Ends the coverage of a listing at a block that an answer no longer contains, so that the next run reads it once more.
   */
  limitCoverage(listing: string, to: number): Promise<void>
  /**
   * Discards unreadable pages and adds their blocks to the remaining blocks. Resolves with the number
   * of discarded records.
   */
  dropUnreadablePages(isReadable: (location: RecordLocation) => Promise<boolean>): Promise<number>
  /** Locations of the transaction fingerprints of a written range; undefined if the log has none. */
  hashesOf(written: BlockRange): readonly RecordLocation[] | undefined
  /**
   * Stores transaction fingerprints of a range that is or will be written. Can be called several times per
   * range.
   */
  storeHashes(written: BlockRange, hashes: Uint8Array): Promise<void>
}

export function rereadStateOn(log: RecordLog, state: CheckpointState): RereadState {
  return {
    reopened: (listing) => state.reopened.get(listing) ?? [],
    reopen: async (wallet, { from, to }) => {
      await log.append({ kind: 'reopen', wallet, from, to }, EMPTY_BODY)
      applyReopened(state, { wallet, from, to })
    },
    limitCoverage: async (wallet, to) => {
      await log.append({ kind: 'limit', wallet, to }, EMPTY_BODY)
      applyLimit(state, { wallet, to })
    },
    dropUnreadablePages: async (isReadable) => {
      let dropped = 0
      for (const { records } of [...state.listings.values()])
        for (const { wallet, items, location } of [...records]) {
          if (items === 0 || (await isReadable(location))) continue
          await dropPages({ log, state }, wallet, location)
          dropped += 1
        }
      return dropped
    },
    hashesOf: (written) => state.hashes.get(hashesKey(written)),
    storeHashes: async ({ from, to }, hashes) => {
      applyHashes(state, { from, to }, await log.append({ kind: 'hashes', from, to }, Buffer.from(hashes)))
    },
  }
}

async function dropPages(
  { log, state }: { log: RecordLog; state: CheckpointState },
  wallet: string,
  { start, offset, bytes }: WholeRecordLocation,
): Promise<void> {
  const pages = await log.read({ offset: start, bytes: offset + bytes - start })
  const dropped = { wallet, offset, ranges: blocksOfPages(pages) }
  await log.append({ kind: 'drop', ...dropped }, EMPTY_BODY)
  applyDropped(state, dropped)
}

const EMPTY_BODY = Buffer.alloc(0)
