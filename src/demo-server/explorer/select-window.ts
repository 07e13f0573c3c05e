import { lowerBound } from '../lower-bound.ts'
import type { WindowQuery } from './explorer-query.ts'

/** The records of a listing: ascending ids, and the block of each. */
type Records = {
  readonly ids: readonly number[]
  readonly blockOf: (id: number) => number
}

/** The ids of one page of a range, in listing order. Pages of a growing chain shift in descending order. */
export function selectWindow(
  { ids, blockOf }: Records,
  window: WindowQuery,
  head: number,
): readonly number[] {
  const { startBlock, endBlock, page, offset, sort } = window
  const low = lowerBound(ids, (id) => blockOf(id) >= startBlock)
  const high = Math.max(
    low,
    lowerBound(ids, (id) => blockOf(id) > Math.min(endBlock, head)),
  )
  const skipped = (page - 1) * offset
  if (sort === 'asc') return ids.slice(Math.min(low + skipped, high), Math.min(low + skipped + offset, high))
  return ids.slice(Math.max(low, high - skipped - offset), Math.max(low, high - skipped)).reverse()
}
