import type { Job } from './model.ts'

/** The listing of all blocks of a job: where a wallet's pages go by its address, pages of blocks go by this name. */
export const BLOCKS = 'blocks'

/** The names of the listings that a job reads, under which its pages are kept. */
export function listingsOf({ kind, wallets }: Pick<Job, 'kind' | 'wallets'>): ReadonlySet<string> {
  return new Set(kind === 'blocks' ? [BLOCKS] : wallets.map(({ address }) => address))
}
