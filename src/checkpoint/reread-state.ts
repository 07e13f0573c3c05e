import type { BlockRange } from '../core/model/model.ts'
import { applyDropped, applyLimit, applyReopened, type CheckpointState } from './checkpoint-state.ts'
import { blocksOfPages } from './coalesced-records.ts'
import { applyHashes, hashesKey } from './fingerprints.ts'
import type { RecordLocation, RecordLog, WholeRecordLocation } from './record-log.ts'

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
