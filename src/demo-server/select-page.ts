import type { ChainItems } from './chain.ts'
import { lowerBound } from './lower-bound.ts'
import type { WalletListing } from './query.ts'

type PageSelection = {
  readonly listing: WalletListing
  /** What the page token states; null for the first page. */
  readonly from: number | null
  readonly head: number
  /** Maximum number of items. */
  readonly limit: number
}

/** The positions of one page, in listing order, and what the token of the next page states. */
type SelectedPage = { readonly positions: readonly number[]; readonly next: number | undefined }

/**
 * Selects a page by the position of its first item. Positions do not depend on the head, so a page token remains
 * valid when the chain grows.
 */
export function selectPage(
  chainItems: ChainItems,
  { listing, from, head, limit }: PageSelection,
): SelectedPage {
  const { all, low, high } = boundsOf(chainItems, listing, head)
  if (listing.sortOrder === 'asc') {
    const start = Math.max(
      low,
      lowerBound(all, (position) => position >= (from ?? 0)),
    )
    const end = Math.min(start + limit, high)
    return { positions: all.slice(start, end), next: end < high ? all[end] : undefined }
  }
  const last = from ?? Number.POSITIVE_INFINITY
  const end = Math.min(
    high,
    lowerBound(all, (position) => position > last),
  )
  const start = Math.max(low, end - limit)
  return { positions: all.slice(start, end).reverse(), next: start > low ? all[start - 1] : undefined }
}

/** Selects a page by the number of items before it, which a growing chain shifts in descending order. */
export function selectByOffset(
  chainItems: ChainItems,
  { listing, from, head, limit }: PageSelection,
): SelectedPage {
  const { all, low, high } = boundsOf(chainItems, listing, head)
  const listed = all.slice(low, high)
  if (listing.sortOrder === 'desc') listed.reverse()
  const end = (from ?? 0) + limit
  return { positions: listed.slice(from ?? 0, end), next: end < listed.length ? end : undefined }
}

/** The positions of a wallet's items, and the bounds of those that may be listed. */
function boundsOf(chainItems: ChainItems, { address, startBlock, endBlock }: WalletListing, head: number) {
  const all = chainItems.positionsOf(address)
  const firstAtBlock = (block: number) =>
    lowerBound(all, (position) => (chainItems.blockNumbers[position] as number) >= block)
  const low = firstAtBlock(startBlock)
  const end = Math.min(firstAtBlock(endBlock ?? Number.POSITIVE_INFINITY), firstAtBlock(head + 1))
  return { all, low, high: Math.max(low, end) }
}
