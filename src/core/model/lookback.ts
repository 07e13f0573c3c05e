/**
 * Blocks at the end of the previous export that every run without `endBlock` reads again, to find reorgs and
 * transactions that were indexed late. They are part of the request for new blocks: a wallet with at most 100
 * transactions in them costs no further request.
 *
 * The same number of blocks below the head is read with closed block ranges, because page tokens may be
 * offsets that a reorg shifts.
 */
export const LOOKBACK_BLOCKS = 32
