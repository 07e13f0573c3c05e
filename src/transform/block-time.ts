/** 2015-07-30T15:26:13Z: the first block of Ethereum, before which no EVM chain has a transaction. */
const FIRST_BLOCK_MS = 1_438_269_973_000

/** Why a time cannot be that of a block, such as 0 for a missing one; undefined if it can. */
export function blockTimeProblem(timeMs: number): string | undefined {
  if (timeMs >= FIRST_BLOCK_MS) return undefined
  return `its time, ${new Date(timeMs).toISOString()}, is before the first block of any chain`
}
