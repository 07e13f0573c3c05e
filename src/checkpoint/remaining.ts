import { UNBOUNDED } from '../core/model/listings.ts'
import type { BlockRange } from '../core/model/model.ts'
import { type CheckpointState, listingOf } from './checkpoint-state.ts'
import { remainingBlocks } from './listing-state.ts'

/**
 * Returns the blocks of a listing that the current run still has to request, within `bounds` and before `endBlock` or, once
 * it is pinned, the end of the run.
 */
export function remainingOf(
  state: CheckpointState,
  listing: string,
  bounds: BlockRange = UNBOUNDED,
): BlockRange[] {
  const to = Math.min(bounds.to, state.identity.endBlock ?? state.end ?? Number.POSITIVE_INFINITY)
  return remainingBlocks(listingOf(state, listing), state, { from: bounds.from, to })
}

/** See `Checkpoint.coveredTo`. */
export function coveredTo(state: CheckpointState, listing: string): number {
  const known = state.listings.get(listing)
  if (known === undefined) return state.base
  if (known.run !== state.run) return Number.POSITIVE_INFINITY
  return remainingOf(state, listing)[0]?.from ?? Number.POSITIVE_INFINITY
}
