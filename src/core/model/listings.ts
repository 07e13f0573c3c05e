import type { BlockRange, Job } from './model.ts'

/**
 * Name of the listing of a block job. Pages of wallet listings are stored under the wallet's address, pages
 * of blocks under this name.
 */
export const BLOCKS = 'blocks'

/**
 * The listings that a run reads, by the name under which their pages are stored, each with the block range
 * from which rows are written.
 */
export type Listings = ReadonlyMap<string, BlockRange>

/** The range of a listing that is not limited to certain blocks. */
export const UNBOUNDED: BlockRange = { from: 0, to: Number.POSITIVE_INFINITY }

/**
 * The listings of a job: one for all blocks, or one per wallet.
 *
 * @param removed Wallets that are no longer in the job, each with the previously read blocks that this run
 *   writes again; only these blocks of their listings are read and written.
 */
export function listingsOf(
  { kind, wallets }: Pick<Job, 'kind' | 'wallets'>,
  removed: Listings = NONE,
): Listings {
  const names = kind === 'blocks' ? [BLOCKS] : wallets.map(({ address }) => address)
  return new Map([...names.map((name) => [name, UNBOUNDED] as const), ...removed])
}

const NONE: Listings = new Map()
