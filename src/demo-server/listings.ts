import { DAY_MS, utcDay } from '../core/model/utc.ts'
import { describeChain } from './chain-info.ts'
import type { Chain, ChainItems } from './chains.ts'
import { HttpError } from './http-error.ts'
import {
  isOnlyReceiverOfInternals,
  listedItem,
  listedNative,
  partiesOf,
  priceDetails,
  viewItem,
} from './item-views.ts'
import { type JsonObject, listOf, objectOf } from './json.ts'
import type { Call, Operation, Service } from './operation.ts'
import { lowerBound } from './pages.ts'
import {
  limitPage,
  readAddress,
  readBlockId,
  readHash,
  readPageQuery,
  readWalletQuery,
} from './parameters.ts'
import { coinPriceOn, PORTFOLIO_CHAIN } from './portfolio-prices.ts'

/** Lists the transactions of a wallet (interface 4.3). An address without transactions has one empty page. */
export const listWallet: Operation = (call, service) =>
  listOfWallet(call, service, {
    name: 'wallet',
    idsOf: ({ items, positionsOf }, address) => {
      if (!service.quirks.has('no-internal-receipts')) return positionsOf(address)
      const isListed = (position: number) =>
        !isOnlyReceiverOfInternals(items[position] as JsonObject, address)
      return positionsOf(address).filter(isListed)
    },
    positionOf: (id) => id,
    show: ({ items, dropsEmptyAt }, position, { chain, address }) => {
      const item = listedItem(items[position] as JsonObject, service.quirks)
      const view = viewItem(item, { address, dropsEmpty: dropsEmptyAt(position) })
      return service.reindexer.refresh(chain.id, view)
    },
  })

/**
 * Lists the internal transactions of a wallet (interface 10): calls that transfer value, and creations, each with its
 * transaction and block.
 */
export const listInternals: Operation = (call, service) =>
  listOfWallet(call, service, {
    name: 'internals',
    idsOf: (chainItems, address) => entryIds(chainItems, address, internalsOf, isTransfer),
    positionOf: (id) => locate(id).position,
    show: ({ items }, id) => {
      const { position, index } = locate(id)
      const item = items[position] as JsonObject
      const { blockNumber, blockTimestamp, blockHash, txHash } = objectOf(item.nativeTransaction)
      return { blockNumber, blockTimestamp, blockHash, txHash, ...internalsOf(item)[index] }
    },
  })

type WalletListing = {
  readonly name: string
  /** Ids, ascending, of all entries. */
  readonly idsOf: (chainItems: ChainItems, address: string) => readonly number[]
  readonly positionOf: (id: number) => number
  readonly show: (
    chainItems: ChainItems,
    id: number,
    wallet: { readonly chain: Chain; readonly address: string },
  ) => JsonObject
}

async function listOfWallet(
  { path, query }: Call,
  { chains, quirks, selectPage }: Service,
  { name, idsOf, positionOf, show }: WalletListing,
) {
  const chain = chains.get(path.chainId)
  const address = readAddress(path.address)
  const walletQuery = readWalletQuery(query)
  const { startBlock, endBlock, sortOrder, pageSize } = walletQuery
  const chainItems = await chain.items()
  const end = Math.min(endBlock ?? Number.POSITIVE_INFINITY, chain.head() + 1)
  const blockOf = (id: number) => chainItems.blockNumbers[positionOf(id)] as number
  const ids = idsInBlocks(idsOf(chainItems, address), blockOf, startBlock, end)
  const key = [name, chain.id, address, startBlock, endBlock, sortOrder, pageSize]
  const { selected, next } = selectPage(ids, key, limitPage(walletQuery, query, quirks), (id) => id)
  return { ...next, transactions: selected.map((id) => show(chainItems, id, { chain, address })) }
}

/** The ids of the entries in a range of blocks; `end` is exclusive. */
export function idsInBlocks(
  ids: readonly number[],
  blockOf: (id: number) => number,
  start: number,
  end: number,
): readonly number[] {
  const low = lowerBound(ids, (id) => blockOf(id) >= start)
  return ids.slice(
    low,
    Math.max(
      low,
      lowerBound(ids, (id) => blockOf(id) >= end),
    ),
  )
}

/** An id of an entry in a list of a transaction is the position of the transaction, times this number, plus its index. */
const MAX_ENTRIES = 2 ** 16

/** Ids, ascending, of those entries of lists that an address is a party of. */
export function entryIds(
  { items, positionsOf }: ChainItems,
  address: string,
  entriesOf: (item: JsonObject) => readonly JsonObject[],
  isListed: (entry: JsonObject) => boolean,
): number[] {
  return positionsOf(address).flatMap((position) =>
    entriesOf(items[position] as JsonObject).flatMap((entry, index) =>
      isListed(entry) && partiesOf(entry).includes(address) ? [position * MAX_ENTRIES + index] : [],
    ),
  )
}

export function locate(id: number): { readonly position: number; readonly index: number } {
  return { position: Math.floor(id / MAX_ENTRIES), index: id % MAX_ENTRIES }
}

function internalsOf(item: JsonObject): JsonObject[] {
  return listOf(item, 'internalTransactions')
}

function isTransfer({ internalTxType, value }: JsonObject): boolean {
  const type = String(internalTxType)
  return type.startsWith('CREATE') || (value !== '0' && type !== 'DELEGATECALL' && type !== 'STATICCALL')
}

/** Lists the transactions of a block (interface 4.1). A block that is unknown or after the head gets 404. */
export const listBlock: Operation = async ({ path, query }, { chains, quirks, selectPage }) => {
  const chain = chains.get(path.chainId)
  const id = readBlockId(path.blockId)
  const page = readPageQuery(query, 0, 100)
  const block = await chain.block(id)
  if (!block || block.number > chain.head())
    throw new HttpError(404, `chain ${chain.id} has no block ${id} here.`)
  const key = ['block', chain.id, block.number, page.pageSize]
  const { selected, next } = selectPage(block.transactions, key, limitPage(page, query, quirks))
  return { ...next, transactions: selected.map((native) => listedNative(native, quirks)) }
}

/**
 * Returns one transaction with all entries of its lists, unfiltered, with its gas prices, and the chain's native coin
 * with its price at that time if it is known. The call input and the base fee of the block are empty strings if they are
 * unknown.
 */
export const showTransaction: Operation = async ({ path }, { chains, quirks, reindexer }) => {
  const chain = chains.get(path.chainId)
  const hash = readHash(path.txHash)
  const { items, blockNumbers, positionOf, dropsEmptyAt } = await chain.items()
  const position = positionOf(hash)
  if (position === undefined || (blockNumbers[position] as number) > chain.head())
    throw new HttpError(404, `chain ${chain.id} has no transaction ${hash} here.`)
  const item = viewItem(items[position] as JsonObject, { dropsEmpty: dropsEmptyAt(position) })
  const view = reindexer.refresh(chain.id, item)
  const native = objectOf(view.nativeTransaction)
  const prices = priceDetails(native, await chain.baseFee(Number(native.blockNumber)))
  const nativeTransaction = { ...listedNative(native, quirks), input: inputOf(view), ...prices }
  const { networkToken } = describeChain(chain.id)
  return {
    ...view,
    nativeTransaction,
    networkTokenDetails: { networkToken, ...historicalPriceOf(chain.id, native) },
  }
}

/** Call input of a transaction: `0x` for a plain transfer, otherwise an empty string (unknown). */
export function inputOf(item: JsonObject): string {
  const { method } = objectOf(item.nativeTransaction)
  return objectOf(method).callType === 'NATIVE_TRANSFER' ? '0x' : ''
}

/** The made-up price of the coin at the time of a transaction: it changes once per UTC day. Chain 1 has none. */
function historicalPriceOf(chain: string, { blockTimestamp }: JsonObject) {
  const ms = Number(blockTimestamp) * 1_000
  const value =
    chain === '43114'
      ? (1_700 + ((Math.floor(ms / DAY_MS) * 137) % 500)) / 100
      : chain === PORTFOLIO_CHAIN
        ? coinPriceOn(utcDay(ms))
        : undefined
  return value === undefined ? {} : { historicalPrice: { currencyCode: 'usd', value } }
}
