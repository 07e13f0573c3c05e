import { EVERYWHERE } from '../core/model/listings.ts'
import type { BlockRange } from '../core/model/model.ts'
import { listingOf, type SpoolState } from './checkpoint-state.ts'
import { openBlocks } from './listing-state.ts'

/** Blocks that the present run still has to ask of a listing, of those in which it counts, below a fixed end. */
export function remainingOf(
  state: SpoolState,
  listing: string,
  counted: BlockRange = EVERYWHERE,
): BlockRange[] {
  const to = Math.min(counted.to, state.identity.endBlock ?? Number.POSITIVE_INFINITY)
  return openBlocks(listingOf(state, listing), state, { from: counted.from, to })
}

/** As `coveredTo` of a spool. */
export function coveredTo(state: SpoolState, listing: string): number {
  const known = state.listings.get(listing)
  if (known === undefined) return state.base
  if (known.run !== state.run) return Number.POSITIVE_INFINITY
  return remainingOf(state, listing)[0]?.from ?? Number.POSITIVE_INFINITY
}
