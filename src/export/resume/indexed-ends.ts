import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { atomicListing } from '../../core/model/listings.ts'
import type { Job } from '../../core/model/model.ts'
import type { RefusedWallet } from '../../core/model/run-stats.ts'

/**
 * Returns the exclusive end of each wallet's coverage: the service had indexed the blocks before it when it answered for
 * the wallet, in each of its listings.
 */
export function indexedEnds(
  { wallets, atomic }: Pick<Job, 'wallets' | 'atomic'>,
  { indexedTo }: Pick<Checkpoint, 'indexedTo'>,
): ReadonlyMap<string, number> {
  return new Map(
    wallets.map(({ address }) => [
      address,
      atomic ? Math.min(indexedTo(address), indexedTo(atomicListing(address))) : indexedTo(address),
    ]),
  )
}

/** Returns the exclusive end up to which all wallets are complete, apart from those that the service refused. */
export function completeTo(
  ends: ReadonlyMap<string, number>,
  { end, refused }: { end: number; refused: readonly RefusedWallet[] },
): number {
  const names = new Set(refused.map(({ address }) => address))
  return [...ends].reduce((min, [address, to]) => (names.has(address) ? min : Math.min(min, to)), end)
}
