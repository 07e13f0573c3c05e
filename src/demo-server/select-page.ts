import { lowerBound } from './lower-bound.ts'
import type { WalletQuery } from './query.ts'

/** The entries of a listing: ascending ids, and the block of each. */
type Entries = {
  readonly ids: readonly number[]
  readonly blockOf: (id: number) => number
}

type PageSelection = {
  readonly query: Pick<WalletQuery, 'startBlock' | 'endBlock' | 'sortOrder'>
  /** What the page token states; null for the first page. */
  readonly from: number | null
  readonly head: number
  /** Maximum number of entries. */
  readonly limit: number
}

/** The ids of one page, in listing order, and what the token of the next page states. */
type SelectedPage = { readonly selected: readonly number[]; readonly next: number | undefined }

/**
 * Selects a page by the id of its first entry. Ids do not depend on the head, so a page token remains valid when the
 * chain grows.
 */
export function selectPage(entries: Entries, { query, from, head, limit }: PageSelection): SelectedPage {
  const { ids } = entries
  const { low, high } = boundsOf(entries, query, head)
  if (query.sortOrder === 'asc') {
    const start = Math.max(
      low,
      lowerBound(ids, (id) => id >= (from ?? 0)),
    )
    const end = Math.min(start + limit, high)
    return { selected: ids.slice(start, end), next: end < high ? ids[end] : undefined }
  }
  const last = from ?? Number.POSITIVE_INFINITY
  const end = Math.min(
    high,
    lowerBound(ids, (id) => id > last),
  )
  const start = Math.max(low, end - limit)
  return { selected: ids.slice(start, end).reverse(), next: start > low ? ids[start - 1] : undefined }
}

/** Selects a page by the number of entries before it, which a growing chain shifts in descending order. */
export function selectByOffset(entries: Entries, { query, from, head, limit }: PageSelection): SelectedPage {
  const { low, high } = boundsOf(entries, query, head)
  const listed = entries.ids.slice(low, high)
  if (query.sortOrder === 'desc') listed.reverse()
  const end = (from ?? 0) + limit
  return { selected: listed.slice(from ?? 0, end), next: end < listed.length ? end : undefined }
}

/** The bounds of the entries that may be listed. */
function boundsOf({ ids, blockOf }: Entries, { startBlock, endBlock }: PageSelection['query'], head: number) {
  const firstAtBlock = (block: number) => lowerBound(ids, (id) => blockOf(id) >= block)
  const low = firstAtBlock(startBlock)
  const end = Math.min(firstAtBlock(endBlock ?? Number.POSITIVE_INFINITY), firstAtBlock(head + 1))
  return { low, high: Math.max(low, end) }
}
