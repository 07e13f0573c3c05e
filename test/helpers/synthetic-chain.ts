import { createHash } from 'node:crypto'
import { type Json, listingPage, type PageTokenCodec } from './listing-page.ts'
import { serve } from './serve.ts'

/** A whole transaction with all entries. Each wallet's listing contains only the entries of the wallet. */
export type SyntheticItem = { nativeTransaction: Json } & Record<(typeof LISTS)[number], Json[]>

const LISTS = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions'] as const

const hex = (text: string, digits: number) => createHash('sha256').update(text).digest('hex').slice(0, digits)
export const addressOf = (name: string) => `0x${hex(`address ${name}`, 40)}`
const party = (address: string) => ({ address })

/** The transaction with this number, in this block. It moves nothing by default. */
export function syntheticItem(
  number: number,
  { block = 1000 + number, ...native }: Json & { block?: number } = {},
  lists: Partial<SyntheticItem> = {},
): SyntheticItem {
  const nativeTransaction = {
    blockNumber: String(block),
    blockTimestamp: 1_700_000_000 + 2 * block,
    blockHash: `0x${hex(`block ${block}`, 64)}`,
    chainId: '43114',
    blockIndex: 0,
    txHash: hashOf(number),
    txStatus: '1',
    txType: 2,
    gasLimit: '90000',
    gasUsed: '21000',
    gasPrice: '25000000000',
    nonce: String(number),
    from: party(addressOf('nobody')),
    to: party(addressOf('router')),
    method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb', methodName: '' },
    value: '0',
    ...native,
  }
  const none = { erc20Transfers: [], erc721Transfers: [], erc1155Transfers: [], internalTransactions: [] }
  return { nativeTransaction, ...none, ...lists }
}

export const hashOf = (number: number) => `0x${hex(`transaction ${number}`, 64)}`

/** A transaction that only transfers one unit of the native coin. */
export const payment = (number: number, from: string, to: string, native: Json & { block?: number } = {}) =>
  syntheticItem(number, { from: party(from), to: party(to), value: '1', ...native })

export const syntheticInternal = (from: string, to: string, changes: Json = {}): Json => ({
  from: party(from),
  to: party(to),
  internalTxType: 'CALL',
  value: '1000',
  isReverted: false,
  gasUsed: '100',
  gasLimit: '2300',
  ...changes,
})

export const syntheticErc20 = (logIndex: number, from: string, to: string, changes: Json = {}): Json => ({
  from: party(from),
  to: party(to),
  logIndex,
  value: '5000000',
  erc20Token: { address: addressOf('token'), symbol: 'USDX', decimals: 6, ercType: 'ERC-20' },
  ...changes,
})

export const syntheticErc721 = (logIndex: number, from: string, to: string): Json => ({
  from: party(from),
  to: party(to),
  logIndex,
  erc721Token: {
    address: addressOf('token'),
    symbol: 'USDX',
    tokenId: '5000000',
    tokenUri: '',
    ercType: 'ERC-721',
  },
})

/** The items that the server currently lists; `wallet` is that of the request. */
type Listing = { items: (wallet: string) => readonly SyntheticItem[] }
type ListingRequest = { wallet: string; from: number; to: number }

/** Starts a server of the listings over synthetic transactions. Tests can replace `listing.items` at any time. */
export async function startSyntheticChain(items: readonly SyntheticItem[], tokens?: PageTokenCodec) {
  const listing: Listing = { items: () => items }
  const received: ListingRequest[] = []
  const url = await serve((request, response) => {
    const url = new URL(request.url ?? '/', 'http://loopback')
    if (!url.pathname.endsWith('/transactions')) return void response.writeHead(404).end('{}')
    const wallet = url.pathname.split('/')[5] ?? ''
    const [from = 0, to = 0] = ['startBlock', 'endBlock'].map((name) => Number(url.searchParams.get(name)))
    received.push({ wallet, from, to })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(listingPage(listing.items(wallet), url, tokens)))
  })
  return { url, listing, received }
}
