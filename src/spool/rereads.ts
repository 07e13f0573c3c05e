import type { BlockRange } from '../core/model.ts'
import type { FrameLog, FramePlace } from './log.ts'
import { hashesKey, noteHashes, noteReopened, type SpoolState } from './state.ts'

/** What a spool keeps so that a run notices what moved since, and reads it again. */
export type Rereads = {
  /** Blocks of a listing that the run reads again, beside those that every run reads again. */
  reopened(listing: string): readonly BlockRange[]
  /** Leaves blocks of a listing to be read again in this run: what pages show of them so far no longer counts. */
  reopen(listing: string, range: BlockRange): Promise<void>
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
    hashesOf: (written) => state.hashes.get(hashesKey(written)),
    keepHashes: async ({ from, to }, hashes) => {
      noteHashes(state, { from, to }, await log.append({ kind: 'hashes', from, to }, Buffer.from(hashes)))
    },
  }
}

const EMPTY = Buffer.alloc(0)
