import type { Chain, ChainItems } from './chain.ts'
import type { JsonObject } from './json.ts'
import { firstAt } from './lower-bound.ts'
import type { PageTokens, Query } from './page-tokens.ts'
import { readAddress } from './path-parameters.ts'
import { readWalletQuery, type WalletQuery } from './query.ts'
import type { Call } from './route.ts'
import { dropsEmptyAt, viewItem } from './wallet-view.ts'

export type Page = { readonly nextPageToken?: string; readonly transactions: readonly JsonObject[] }

export type ListingTools = {
  readonly chain: Chain
  readonly tokens: PageTokens
  /** Puts what is newly known of NFTs into an item. */
  readonly freshen: (item: JsonObject) => JsonObject
}

/** Answers the wallet listing (interface 4.3). An address that never took part has one empty page. */
export async function listWallet(
  { path, query }: Call,
  { chain, tokens, freshen }: ListingTools,
): Promise<Page> {
  const listing: WalletListing = { address: readAddress(path.address), ...readWalletQuery(query) }
  const asked = queryOf(chain.id, listing)
  const from = listing.pageToken === null ? null : tokens.open(asked, listing.pageToken)
  const chainItems = await chain.items()
  const { places, next } = choosePlaces(chainItems, { listing, from, head: chain.head() })
  const transactions = places.map((place) =>
    freshen(viewPlace(chainItems, { place, address: listing.address })),
  )
  return next === undefined ? { transactions } : { nextPageToken: tokens.seal(asked, next), transactions }
}

/** The address in lower case. */
type WalletListing = WalletQuery & { readonly address: string }

function queryOf(chain: string, listing: WalletListing): Query {
  const { address, startBlock, endBlock, sortOrder, pageSize } = listing
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

function viewPlace(
  chainItems: ChainItems,
  { place, address }: { place: number; address: string },
): JsonObject {
  const item = chainItems.items[place] as JsonObject
  return viewItem(item, { address, dropsEmpty: dropsEmptyAt(chainItems, place) })
}
