import type { ChainItems } from './chain.ts'
import { type JsonObject, objectOf } from './json.ts'
import type { ListingContext, Page } from './list-wallet.ts'
import { pageLimit } from './page-limit.ts'
import type { ListingKey } from './page-tokens.ts'
import { readAddress } from './path-parameters.ts'
import { readWalletQuery } from './query.ts'
import type { Call } from './route.ts'
import { selectByOffset, selectPage } from './select-page.ts'
import { partiesOf } from './wallet-view.ts'

/**
 * Returns a page of the internal transactions of a wallet (interface 10): calls that transfer value, and creations, each
 * with its transaction and block.
 */
export async function listInternals(
  { path, query }: Call,
  { chain, tokens, quirks }: Pick<ListingContext, 'chain' | 'tokens' | 'quirks'>,
): Promise<Page> {
  const address = readAddress(path.address)
  const walletQuery = readWalletQuery(query)
  const { startBlock, endBlock, sortOrder, pageSize, pageToken } = walletQuery
  const listing: ListingKey = ['internals', chain.id, address, startBlock, endBlock, sortOrder, pageSize]
  const from = pageToken === null ? null : tokens.decode(listing, pageToken)
  const chainItems = await chain.items()
  const entries = {
    ids: idsOf(chainItems, address),
    blockOf: (id: number) => chainItems.blockNumbers[Math.floor(id / MAX_ENTRIES)] as number,
  }
  const select = quirks.has('offset-tokens') ? selectByOffset : selectPage
  const limit = pageLimit({ query, pageSize, sortOrder }, quirks)
  const { selected, next } = select(entries, { query: walletQuery, from, head: chain.head(), limit })
  const transactions = selected.map((id) => entryAt(chainItems, id))
  return next === undefined ? { transactions } : { nextPageToken: tokens.encode(listing, next), transactions }
}

/** An id is the position of the transaction, times this number, plus the index in its list. */
const MAX_ENTRIES = 2 ** 16

function idsOf(chainItems: ChainItems, address: string): number[] {
  return chainItems.positionsOf(address).flatMap((position) =>
    internalsOf(chainItems.items[position]).flatMap((entry, index) => {
      const isListed = isTransfer(entry) && partiesOf(entry).includes(address)
      return isListed ? [position * MAX_ENTRIES + index] : []
    }),
  )
}

function internalsOf(item: JsonObject | undefined): JsonObject[] {
  const list = item?.internalTransactions
  return Array.isArray(list) ? list.map(objectOf) : []
}

function isTransfer({ internalTxType, value }: JsonObject): boolean {
  const type = String(internalTxType)
  return type.startsWith('CREATE') || (value !== '0' && !VALUELESS_CALLS.has(type))
}

const VALUELESS_CALLS: ReadonlySet<string> = new Set(['DELEGATECALL', 'STATICCALL'])

function entryAt({ items }: ChainItems, id: number): JsonObject {
  const item = items[Math.floor(id / MAX_ENTRIES)]
  const { blockNumber, blockTimestamp, blockHash, txHash } = objectOf(item?.nativeTransaction)
  return { blockNumber, blockTimestamp, blockHash, txHash, ...internalsOf(item)[id % MAX_ENTRIES] }
}
