import type { BlockRange } from '../core/model/model.ts'
import { hashesKey, noteDropped, noteHashes, noteReopened, type SpoolState } from './checkpoint-state.ts'
import { shownIn } from './coalesced-records.ts'
import type { FrameLog, FramePlace, WholePlace } from './record-log.ts'

/** What a spool keeps so that a run notices what moved since or was damaged, and reads it again. */
export type Rereads = {
  /** Blocks of a listing that the run reads again, beside those that every run reads again. */
  reopened(listing: string): readonly BlockRange[]
  /** Leaves blocks of a listing to be read again in this run: what pages show of them so far no longer counts. */
  reopen(listing: string, range: BlockRange): Promise<void>
  /**
   * Leaves to be requested again what pages showed whose bodies fail the check; resolves with their number. `isWhole` is
   * given a body as `read` of the spool gives it.
   */
  dropUnreadable(isWhole: (place: FramePlace) => Promise<boolean>): Promise<number>
  /** Where fingerprints of the transactions in these written blocks lie; undefined where the log has none. */
  hashesOf(written: BlockRange): readonly FramePlace[] | undefined
  /** Keeps fingerprints of the transactions in blocks that are or are about to be written; may be called several times. */
  keepHashes(written: BlockRange, hashes: Uint8Array): Promise<void>
}

export function rereadsOn(log: FrameLog, state: SpoolState): Rereads {
  return {
    reopened: (listing) => state.reopened.get(listing) ?? [],
    reopen: async (wallet, { from, to }) => {
      await log.append({ kind: 'reopen', wallet, from, to }, EMPTY)
      noteReopened(state, { wallet, from, to })
    },
    dropUnreadable: async (isWhole) => {
      let dropped = 0
      for (const { frames } of [...state.listings.values()])
        for (const { wallet, items, place } of [...frames]) {
          if (items === 0 || (await isWhole(place))) continue
          await dropPages({ log, state }, wallet, place)
          dropped += 1
        }
      return dropped
    },
    hashesOf: (written) => state.hashes.get(hashesKey(written)),
    keepHashes: async ({ from, to }, hashes) => {
      noteHashes(state, { from, to }, await log.append({ kind: 'hashes', from, to }, Buffer.from(hashes)))
    },
  }
}

async function dropPages(
  { log, state }: { log: FrameLog; state: SpoolState },
  wallet: string,
  { start, offset, bytes }: WholePlace,
): Promise<void> {
  const pages = await log.read({ offset: start, bytes: offset + bytes - start })
  const dropped = { wallet, offset, shown: shownIn(pages) }
  await log.append({ kind: 'drop', ...dropped }, EMPTY)
  noteDropped(state, dropped)
}

const EMPTY = Buffer.alloc(0)
