import type { Chain, ChainItems } from './chain.ts'
import type { JsonObject } from './json.ts'
import type { PageTokens, Query } from './page-tokens.ts'
import type { WalletListing } from './route.ts'
import { viewItem } from './wallet-view.ts'

export type Page = { readonly nextPageToken?: string; readonly transactions: readonly JsonObject[] }

/** Answers the wallet listing (interface 4.3). An address that never took part has one empty page. */
export async function listWallet(
  listing: WalletListing,
  { chain, tokens }: { chain: Chain; tokens: PageTokens },
): Promise<Page> {
  const query = queryOf(listing)
  const from = listing.pageToken === null ? null : tokens.open(query, listing.pageToken)
  const chainItems = await chain.items()
  const { places, next } = choosePlaces(chainItems, { listing, from, head: chain.head() })
  const transactions = places.map((place) => viewPlace(chainItems, { place, address: listing.address }))
  return next === undefined ? { transactions } : { nextPageToken: tokens.seal(query, next), transactions }
}

function queryOf({ chain, address, startBlock, endBlock, sortOrder, pageSize }: WalletListing): Query {
  return ['wallet', chain, address, startBlock, endBlock, sortOrder, pageSize]
}

type Choice = {
  readonly listing: WalletListing
  /** Place of the page's first item; null: the listing's first. */
  readonly from: number | null
  readonly head: number
}

/** Chooses one page of places, in listing order, and the place after it; a place says nothing about the head. */
function choosePlaces(chainItems: ChainItems, { listing, from, head }: Choice) {
  const all = chainItems.placesOf(listing.address)
  const upTo = (block: number) => firstAt(all, (place) => (chainItems.blockNumbers[place] as number) >= block)
  const low = upTo(listing.startBlock)
  const high = Math.max(low, Math.min(upTo(listing.endBlock ?? Number.POSITIVE_INFINITY), upTo(head + 1)))
  if (listing.sortOrder === 'asc') {
    const start = Math.max(
      low,
      firstAt(all, (place) => place >= (from ?? 0)),
    )
    const end = Math.min(start + listing.pageSize, high)
    return { places: all.slice(start, end), next: end < high ? all[end] : undefined }
  }
  const last = from ?? Number.POSITIVE_INFINITY
  const end = Math.min(
    high,
    firstAt(all, (place) => place > last),
  )
  const start = Math.max(low, end - listing.pageSize)
  return { places: all.slice(start, end).reverse(), next: start > low ? all[start - 1] : undefined }
}

/** Index of the first place that passes, where all after it pass too; the length where none does. */
function firstAt(places: readonly number[], passes: (place: number) => boolean): number {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(places[middle] as number)) high = middle
    else low = middle + 1
  }
  return low
}

function viewPlace(
  chainItems: ChainItems,
  { place, address }: { place: number; address: string },
): JsonObject {
  const odd = (chainItems.blockNumbers[place] as number) % 2 === 1
  const dropsEmpty = chainItems.dropsEmptyInOddBlocks && odd
  return viewItem(chainItems.items[place] as JsonObject, { address, dropsEmpty })
}
