import type { ByteText } from '../platform/byte-text.ts'

/** Where an item stands in its chain. */
export type ItemKey = {
  block: number
  /** Position of the transaction in its block. */
  index: number
  /** Transaction hash, lower case. */
  hash: ByteText
  /** Block time in milliseconds since 1970; where it is given in whole seconds, the first of its second. */
  timeMs: number
  /** The last millisecond that the time may stand for: a time in whole seconds stands for its whole second. */
  lastMs: number
  /** Block time in seconds, by which listings are sorted; within a second they may have any order. */
  second: number
}

/** Whether an item may be younger than `cutMs`: one rule for the head that a run pins and for the rows that it writes. */
export function isYounger({ lastMs }: Pick<ItemKey, 'lastMs'>, cutMs: number): boolean {
  return lastMs > cutMs
}

/** Orders by block, then position; by hash only where two transactions claim one place. */
export function compareKeys(a: Pick<ItemKey, 'block' | 'index' | 'hash'>, b: typeof a): number {
  return a.block - b.block || a.index - b.index || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)
}
