import type { ByteText } from '../platform/byte-text.ts'

/** Position of an item in the chain. */
export type ItemKey = {
  block: number
  /** Position of the transaction in its block; `UNKNOWN_INDEX` if the service does not report it. */
  index: number
  /** Transaction hash, lower case. */
  hash: ByteText
  /**
   * Block time in milliseconds since 1970; if the service returns whole seconds, the first millisecond of the
   * second.
   */
  timeMs: number
  /**
   * The last possible millisecond of the block time: a time in whole seconds means any time within the
   * second.
   */
  lastMs: number
  /** Block time in seconds. Listings are sorted by it; the order within a second is undefined. */
  second: number
}

/**
 * The position of a transaction whose view does not state it: after all others of the block, except for atomic
 * transactions.
 */
export const UNKNOWN_INDEX = 2 ** 31 - 2

/**
 * Whether an item may be newer than the cutoff. The same rule determines the pinned head of a run and the
 * rows it writes.
 */
export function isAfterCutoff({ lastMs }: Pick<ItemKey, 'lastMs'>, cutoffMs: number): boolean {
  return lastMs > cutoffMs
}

/** Orders by block and then position. The hash decides only if two transactions claim the same position. */
export function compareKeys(a: Pick<ItemKey, 'block' | 'index' | 'hash'>, b: typeof a): number {
  return a.block - b.block || a.index - b.index || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)
}
