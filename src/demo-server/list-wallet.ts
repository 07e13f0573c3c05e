import type { Chain, ChainItems } from './chain.ts'
import type { JsonObject } from './json.ts'
import { listedItem } from './listed.ts'
import { pageLimit } from './page-limit.ts'
import type { ListingKey, PageTokens } from './page-tokens.ts'
import { readAddress } from './path-parameters.ts'
import { readWalletQuery, type WalletListing } from './query.ts'
import type { Quirk } from './quirks.ts'
import type { Call } from './route.ts'
import { selectByOffset, selectPage } from './select-page.ts'
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
  const select = quirks.has('offset-tokens') ? selectByOffset : selectPage
  const limit = pageLimit({ query, ...listing }, quirks)
  const { positions, next } = select(chainItems, { listing, from, head: chain.head(), limit })
  const { address } = listing
  const transactions = positions.map((position) =>
    refreshMetadata(viewItemAt(chainItems, { position, address, quirks })),
  )
  return next === undefined
    ? { transactions }
    : { nextPageToken: tokens.encode(listingKey, next), transactions }
}

function listingKeyOf(chain: string, listing: WalletListing): ListingKey {
  const { address, startBlock, endBlock, sortOrder, pageSize } = listing
  return ['wallet', chain, address, startBlock, endBlock, sortOrder, pageSize]
}

type ViewedItem = { position: number; address: string; quirks: ReadonlySet<Quirk> }

function viewItemAt(chainItems: ChainItems, { position, address, quirks }: ViewedItem): JsonObject {
  const item = listedItem(chainItems.items[position] as JsonObject, quirks)
  return viewItem(item, { address, dropsEmpty: dropsEmptyAt(chainItems, position) })
}
