import type { Chain, ChainItems } from './chain.ts'
import type { JsonObject } from './json.ts'
import { lowerBound } from './lower-bound.ts'
import type { ListingKey, PageTokens } from './page-tokens.ts'
import { readAddress } from './path-parameters.ts'
import { listedItem } from './prices.ts'
import { readWalletQuery, type WalletQuery } from './query.ts'
import type { Quirk } from './quirks.ts'
import type { Call } from './route.ts'
import { dropsEmptyAt, viewItem } from './wallet-view.ts'

export type Page = { readonly nextPageToken?: string; readonly transactions: readonly JsonObject[] }

export type ListingContext = {
  readonly chain: Chain
  readonly tokens: PageTokens
  readonly quirks: ReadonlySet<Quirk>
  /** Replaces the metadata of reindexed NFTs in an item. */
  readonly refreshMetadata: (item: JsonObject) => JsonObject
}

/** Returns a page of the wallet listing (interface 4.3). An address without transactions has one empty page. */
export async function listWallet(
  { path, query }: Call,
  { chain, tokens, quirks, refreshMetadata }: ListingContext,
): Promise<Page> {
  const listing: WalletListing = { address: readAddress(path.address), ...readWalletQuery(query) }
  const listingKey = listingKeyOf(chain.id, listing)
  const from = listing.pageToken === null ? null : tokens.decode(listingKey, listing.pageToken)
  const chainItems = await chain.items()
  const { positions, next } = selectPage(chainItems, { listing, from, head: chain.head() })
  const transactions = positions.map((position) =>
    listedItem(refreshMetadata(viewItemAt(chainItems, { position, address: listing.address })), quirks),
  )
  return next === undefined
    ? { transactions }
    : { nextPageToken: tokens.encode(listingKey, next), transactions }
}

/** `address` is in lower case. */
type WalletListing = WalletQuery & { readonly address: string }

function listingKeyOf(chain: string, listing: WalletListing): ListingKey {
  const { address, startBlock, endBlock, sortOrder, pageSize } = listing
  return ['wallet', chain, address, startBlock, endBlock, sortOrder, pageSize]
}

type PageSelection = {
  readonly listing: WalletListing
  /** Position of the first item of the page; null for the first page. */
  readonly from: number | null
  readonly head: number
}

/**
 * Selects the positions of one page, in listing order, and the position of the next page. Positions do not depend on the
 * head, so a page token remains valid when the chain grows.
 */
function selectPage(chainItems: ChainItems, { listing, from, head }: PageSelection) {
  const all = chainItems.positionsOf(listing.address)
  const firstAtBlock = (block: number) =>
    lowerBound(all, (position) => (chainItems.blockNumbers[position] as number) >= block)
  const low = firstAtBlock(listing.startBlock)
  const high = Math.max(
    low,
    Math.min(firstAtBlock(listing.endBlock ?? Number.POSITIVE_INFINITY), firstAtBlock(head + 1)),
  )
  if (listing.sortOrder === 'asc') {
    const start = Math.max(
      low,
      lowerBound(all, (position) => position >= (from ?? 0)),
    )
    const end = Math.min(start + listing.pageSize, high)
    return { positions: all.slice(start, end), next: end < high ? all[end] : undefined }
  }
  const last = from ?? Number.POSITIVE_INFINITY
  const end = Math.min(
    high,
    lowerBound(all, (position) => position > last),
  )
  const start = Math.max(low, end - listing.pageSize)
  return { positions: all.slice(start, end).reverse(), next: start > low ? all[start - 1] : undefined }
}

function viewItemAt(
  chainItems: ChainItems,
  { position, address }: { position: number; address: string },
): JsonObject {
  const item = chainItems.items[position] as JsonObject
  return viewItem(item, { address, dropsEmpty: dropsEmptyAt(chainItems, position) })
}
