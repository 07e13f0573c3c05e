import { UNBOUNDED } from '../core/model/listings.ts'
import type { BlockRange } from '../core/model/model.ts'
import { type CheckpointState, listingOf } from './checkpoint-state.ts'
import { remainingBlocks } from './listing-state.ts'

/** Blocks that the present run still has to ask of a listing, of those in which it counts, below a fixed end. */
export function remainingOf(
  state: CheckpointState,
  listing: string,
  bounds: BlockRange = UNBOUNDED,
): BlockRange[] {
  const to = Math.min(bounds.to, state.identity.endBlock ?? Number.POSITIVE_INFINITY)
  return remainingBlocks(listingOf(state, listing), state, { from: bounds.from, to })
}

/** As `coveredTo` of a spool. */
export function coveredTo(state: CheckpointState, listing: string): number {
  const known = state.listings.get(listing)
  if (known === undefined) return state.base
  if (known.run !== state.run) return Number.POSITIVE_INFINITY
  return remainingOf(state, listing)[0]?.from ?? Number.POSITIVE_INFINITY
}
