/**
 * How far before the end of the previous export a run without `endBlock` reads again, to find reorgs and transactions
 * that were indexed late: at least this number of blocks, and at least this time. The blocks are part of the request for
 * new ones: a wallet with at most 100 transactions in them costs no further request.
 */
export type Lookback = { blocks: number; ms: number }

/**
 * The default number of blocks. The same number of blocks below the head is read with closed block ranges, because page
 * tokens may be offsets that a reorg shifts.
 */
export const LOOKBACK_BLOCKS = 32

/** The default time, in milliseconds. */
export const LOOKBACK_MS = 600_000

export const DEFAULT_LOOKBACK: Lookback = { blocks: LOOKBACK_BLOCKS, ms: LOOKBACK_MS }

export const NO_LOOKBACK: Lookback = { blocks: 0, ms: 0 }
