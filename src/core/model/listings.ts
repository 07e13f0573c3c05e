import type { BlockRange, Job } from './model.ts'

/**
 * Name of the listing of a block job. Pages of wallet listings are stored under the wallet's address, pages
 * of blocks under this name.
 */
export const BLOCKS = 'blocks'

const ATOMIC_SUFFIX = '.atomic'

/** Name of the listing of a wallet's atomic transactions, beside the wallet's own listing. */
export const atomicListing = (address: string): string => address + ATOMIC_SUFFIX

/** Whether a listing contains the atomic transactions of a wallet. */
export const isAtomicListing = (name: string): boolean => name.endsWith(ATOMIC_SUFFIX)

/** The wallet of a listing. */
export const walletOf = (name: string): string =>
  isAtomicListing(name) ? name.slice(0, -ATOMIC_SUFFIX.length) : name

/**
 * The listings that a run reads, by the name under which their pages are stored, each with the block range
 * from which rows are written.
 */
export type Listings = ReadonlyMap<string, BlockRange>

/** The range of a listing that is not limited to certain blocks. */
export const UNBOUNDED: BlockRange = { from: 0, to: Number.POSITIVE_INFINITY }

/**
 * The listings of a job: one for all blocks, or one per wallet, and with `atomic` another one per wallet.
 *
 * @param removed Wallets that are no longer in the job, each with the previously read blocks that this run
 *   writes again; only these blocks of their listings are read and written.
 */
export function listingsOf(
  { kind, wallets, atomic }: Pick<Job, 'kind' | 'wallets' | 'atomic'>,
  removed: Listings = NONE,
): Listings {
  const names = kind === 'blocks' ? [BLOCKS] : wallets.map(({ address }) => address)
  const listings = [...names.map((name) => [name, UNBOUNDED] as const), ...removed]
  if (!atomic) return new Map(listings)
  return new Map([...listings, ...listings.map(([name, range]) => [atomicListing(name), range] as const)])
}

const NONE: Listings = new Map()
