// Deliberately independent of src: the wallet listing as section 4.3 of INTERFACE.md describes it.
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SeededRandom } from '../seeded-random.ts'
import { listedTransactions, viewOf } from './chain-model.ts'
import type { ChainModel, PlacedTransaction, TransactionContent } from './chain-types.ts'

/** Order of transactions within one second, which the interface leaves open. */
type TieOrder = 'chain' | 'hash' | 'against'
export type ServiceBehavior = {
  ties: TieOrder
  /** Maximum number of items per page. */
  pageItems: number
  /** Whether items name the chain by its EVM id. */
  namesChain: boolean
  /** Probability that a request fails, in [0, 1). */
  faults: number
  /** Whether page tokens are refused at random, each at most twice. */
  refusesTokens: boolean
  /** Whether items show the fee cap of a transaction of type 2 as its gas price. */
  listsFeeCap: boolean
  /** Requests for larger pages are refused with 413 or 504. */
  maxPageSize: number
  /** Number of items of the previous page that a page repeats at its start. */
  repeats: number
}
export type ListedChain = { chainModel: ChainModel; runIndex: number }
export type ListingService = {
  url: string
  requests: () => number
  onRequest: { act: () => void }
  close(): void
}

/** Serves the current state of the chain model. */
export async function startListing(
  listed: ListedChain,
  behavior: ServiceBehavior,
  random: SeededRandom,
): Promise<ListingService> {
  let requests = 0
  const refused = new Map<string, number>()
  const onRequest = { act: () => {} }
  const server = createServer((request, response) => {
    requests += 1
    onRequest.act()
    const url = new URL(request.url ?? '/', 'http://loopback')
    if (behavior.faults > random.next()) return respondWithFault(response, random)
    const { status, body } = respond(url, { listed, behavior, random, refused })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    onRequest,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function respondWithFault(response: ServerResponse, random: SeededRandom): void {
  const fault = random.pick(['429', '500', '503', 'reset', 'cut', 'garbage'])
  if (fault === 'reset') return void response.socket?.destroy()
  if (fault === 'cut') {
    response.writeHead(200, { 'content-length': '500', 'content-type': 'application/json' })
    response.write('{"transactions":[')
    return void setImmediate(() => response.socket?.destroy())
  }
  const status = fault === 'garbage' ? 200 : Number(fault)
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(fault === '429' ? { 'retry-after': '0' } : {}),
  })
  response.end(fault === 'garbage' ? '{"transactions":' : '{"message":"not now","error":"","statusCode":0}')
}

type RequestState = {
  listed: ListedChain
  behavior: ServiceBehavior
  random: SeededRandom
  refused: Map<string, number>
}
const badRequest = (message: string) => ({
  status: 400,
  body: { message, error: 'Bad Request', statusCode: 400 },
})

const tooLarge = (random: SeededRandom) => {
  const status = random.pick([413, 504])
  return { status, body: { message: 'the page is too large', error: 'Too Large', statusCode: status } }
}

/** Blocks are listed without transactions: the program only asks whether a block exists. */
function respondToBlock(number: number, { chainModel }: ListedChain): { status: number; body: unknown } {
  if (number <= chainModel.blocks.length) return { status: 200, body: { transactions: [] } }
  return { status: 404, body: { message: 'no such block', error: 'Not Found', statusCode: 404 } }
}

/** The details of a transaction, of which only the prices matter. */
function respondToTransaction(
  hash: string,
  { chainModel, runIndex }: ListedChain,
): { status: number; body: unknown } {
  const placed = listedTransactions(chainModel, runIndex).find(({ content }) => content.hash === hash)
  if (placed === undefined)
    return { status: 404, body: { message: 'no such transaction', error: 'Not Found', statusCode: 404 } }
  const { gasPrice, feeCap } = placed.content
  const prices = {
    baseFeePerGas: gasPrice,
    maxFeePerGas: feeCap,
    maxPriorityFeePerGas: gasPrice === feeCap ? '5' : '0',
  }
  return {
    status: 200,
    body: { nativeTransaction: { txHash: hash, blockHash: placed.block.hash, ...prices } },
  }
}

function respond(
  url: URL,
  { listed, behavior, random, refused }: RequestState,
): { status: number; body: unknown } {
  const [, wallet = ''] =
    /^\/v1\/chains\/[^/]+\/addresses\/(0x[0-9a-f]{40})\/transactions$/.exec(url.pathname) ?? []
  const [, block] = /^\/v1\/chains\/[^/]+\/blocks\/(\d+)\/transactions$/.exec(url.pathname) ?? []
  if (block !== undefined) return respondToBlock(Number(block), listed)
  const [, hash] = /^\/v1\/chains\/[^/]+\/transactions\/(0x[0-9a-f]{64})$/.exec(url.pathname) ?? []
  if (hash !== undefined) return respondToTransaction(hash, listed)
  if (wallet === '') return badRequest('no such path')
  if (Number(url.searchParams.get('pageSize') ?? 10) > behavior.maxPageSize) return tooLarge(random)
  const token = url.searchParams.get('pageToken')
  const times = refused.get(wallet + token) ?? 0
  if (token !== null && behavior.refusesTokens && times < 2 && random.next() < 0.3) {
    refused.set(wallet + token, times + 1)
    return badRequest('the page token has expired')
  }
  const descending = url.searchParams.get('sortOrder') === 'desc'
  const [from, to] = ['startBlock', 'endBlock'].map((name) => Number(url.searchParams.get(name)))
  const inRange = listedTransactions(listed.chainModel, listed.runIndex).filter(
    ({ block, content }) =>
      block.number >= (from ?? 0) && block.number < (to ?? 0) && viewOf(content, wallet) !== undefined,
  )
  const items = sort(inRange, behavior.ties, descending)
  const start = token === null ? 0 : Number(Buffer.from(token, 'base64url').toString().split(' ')[1])
  const first = Math.max(0, start - (token === null ? 0 : behavior.repeats))
  const size = Math.min(Number(url.searchParams.get('pageSize') ?? 10), behavior.pageItems + behavior.repeats)
  const page = items.slice(first, first + size)
  const end = first + size
  const next = end < items.length ? Buffer.from(`offset ${end}`).toString('base64url') : ''
  const transactions = page.map((placed) => itemOf(placed, wallet, { listed, behavior }))
  return { status: 200, body: { nextPageToken: next, transactions } }
}

function sort(items: PlacedTransaction[], ties: TieOrder, descending: boolean): PlacedTransaction[] {
  const second = ({ block }: PlacedTransaction) => Math.floor(block.timeMs / 1000)
  const comparePosition = (a: PlacedTransaction, b: PlacedTransaction) =>
    a.block.number - b.block.number || a.index - b.index
  const digest = ({ content }: PlacedTransaction) => createHash('md5').update(content.hash).digest('hex')
  const tie = (a: PlacedTransaction, b: PlacedTransaction) =>
    ties === 'hash'
      ? digest(a) < digest(b)
        ? -1
        : 1
      : ties === 'chain'
        ? comparePosition(a, b)
        : comparePosition(b, a)
  const rising = items.sort((a, b) => second(a) - second(b) || tie(a, b))
  if (!descending) return rising
  // `against` is relative to the direction.
  return rising.sort((a, b) => second(b) - second(a) || (ties === 'hash' ? tie(a, b) : -tie(a, b)))
}

function itemOf(
  { block, index, content }: PlacedTransaction,
  wallet: string,
  { listed, behavior }: Pick<RequestState, 'listed' | 'behavior'>,
): unknown {
  const view = viewOf(content, wallet) as TransactionContent
  const { chainModel } = listed
  return {
    nativeTransaction: {
      blockNumber: String(block.number),
      blockTimestamp: Math.floor(block.timeMs / 1000),
      ...(chainModel.givesMs ? { blockTimestampMilliseconds: block.timeMs } : {}),
      blockHash: block.hash,
      ...(behavior.namesChain ? { chainId: '43114' } : {}),
      blockIndex: index,
      txHash: content.hash,
      txStatus: content.status,
      txType: content.type,
      gasLimit: content.gasLimit,
      gasUsed: content.gasUsed,
      gasPrice: listedPrice(content, behavior),
      nonce: content.nonce,
      from: content.from,
      to: content.to,
      method: content.method,
      value: content.value,
    },
    erc20Transfers: view.erc20,
    erc721Transfers: view.erc721,
    erc1155Transfers: view.erc1155,
    internalTransactions: view.internal,
  }
}

/** The gas price that a listing shows. */
export const listedPrice = (
  { type, gasPrice, feeCap }: TransactionContent,
  { listsFeeCap }: Pick<ServiceBehavior, 'listsFeeCap'>,
): string => (listsFeeCap && type === 2 ? feeCap : gasPrice)
