import type { BlockRange } from '../core/model/model.ts'
import { applyDropped, applyReopened, type CheckpointState } from './checkpoint-state.ts'
import { blocksShownIn } from './coalesced-records.ts'
import { applyHashes, hashesKey } from './fingerprints.ts'
import type { RecordLocation, RecordLog, WholeRecordLocation } from './record-log.ts'

/** What a spool keeps so that a run notices what moved since or was damaged, and reads it again. */
export type RereadState = {
  /** Blocks of a listing that the run reads again, beside those that every run reads again. */
  reopened(listing: string): readonly BlockRange[]
  /** Leaves blocks of a listing to be read again in this run: what pages show of them so far no longer counts. */
  reopen(listing: string, range: BlockRange): Promise<void>
  /**
   * Leaves to be requested again what pages showed whose bodies fail the check; resolves with their number. `isWhole` is
   * given a body as `read` of the spool gives it.
   */
  dropUnreadablePages(isReadable: (location: RecordLocation) => Promise<boolean>): Promise<number>
  /** Where fingerprints of the transactions in these written blocks lie; undefined where the log has none. */
  hashesOf(written: BlockRange): readonly RecordLocation[] | undefined
  /** Keeps fingerprints of the transactions in blocks that are or are about to be written; may be called several times. */
  storeHashes(written: BlockRange, hashes: Uint8Array): Promise<void>
}

export function rereadStateOn(log: RecordLog, state: CheckpointState): RereadState {
  return {
    reopened: (listing) => state.reopened.get(listing) ?? [],
    reopen: async (wallet, { from, to }) => {
      await log.append({ kind: 'reopen', wallet, from, to }, EMPTY_BODY)
      applyReopened(state, { wallet, from, to })
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
  const dropped = { wallet, offset, shown: blocksShownIn(pages) }
  await log.append({ kind: 'drop', ...dropped }, EMPTY_BODY)
  applyDropped(state, dropped)
}

const EMPTY_BODY = Buffer.alloc(0)
