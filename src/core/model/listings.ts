import type { BlockRange, Job } from './model.ts'

/** The listing of all blocks of a job: where a wallet's pages go by its address, pages of blocks go by this name. */
export const BLOCKS = 'blocks'

/** The listings that a run reads, under whose names pages are kept, each with the blocks in which it counts. */
export type Listings = ReadonlyMap<string, BlockRange>

/** A listing without bounds of its own. */
export const UNBOUNDED: BlockRange = { from: 0, to: Number.POSITIVE_INFINITY }

/**
 * The listings of a job: that of all blocks, or one a wallet. Those of wallets that left the job are read and written
 * only where blocks that they were read in are written again: in these, which are given with their addresses.
 */
export function listingsOf(
  { kind, wallets }: Pick<Job, 'kind' | 'wallets'>,
  removed: Listings = NONE,
): Listings {
  const names = kind === 'blocks' ? [BLOCKS] : wallets.map(({ address }) => address)
  return new Map([...names.map((name) => [name, UNBOUNDED] as const), ...removed])
}

const NONE: Listings = new Map()
