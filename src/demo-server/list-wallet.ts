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
import { dropsEmptyAt, isOnlyReceiverOfInternals, viewItem } from './wallet-view.ts'

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
  const { address } = listing
  const entries = {
    ids: listedPositions(chainItems, { address, quirks }),
    blockOf: (position: number) => chainItems.blockNumbers[position] as number,
  }
  const select = quirks.has('offset-tokens') ? selectByOffset : selectPage
  const limit = pageLimit({ query, ...listing }, quirks)
  const { selected, next } = select(entries, { query: listing, from, head: chain.head(), limit })
  const transactions = selected.map((position) =>
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

type WalletView = { address: string; quirks: ReadonlySet<Quirk> }

/** The positions of the transactions that the listing of a wallet contains. */
function listedPositions(
  { items, positionsOf }: ChainItems,
  { address, quirks }: WalletView,
): readonly number[] {
  const positions = positionsOf(address)
  if (!quirks.has('no-internal-receipts')) return positions
  return positions.filter((position) => !isOnlyReceiverOfInternals(items[position] as JsonObject, address))
}

type ViewedItem = WalletView & { position: number }

function viewItemAt(chainItems: ChainItems, { position, address, quirks }: ViewedItem): JsonObject {
  const item = listedItem(chainItems.items[position] as JsonObject, quirks)
  return viewItem(item, { address, dropsEmpty: dropsEmptyAt(chainItems, position) })
}
