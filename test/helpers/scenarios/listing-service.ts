// An independent witness on purpose: answers the wallet listing from the interface's text alone (section 4.3).
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Dice } from '../seeded-random.ts'
import { type Content, listed, type Placed, viewOf, type World } from './chain-model.ts'

/** How transactions of one second are ordered: the interface says nothing of it. */
type TieOrder = 'chain' | 'hash' | 'against'
export type Weather = {
  ties: TieOrder
  /** Items a page, at most. */
  pageItems: number
  /** Whether items name the chain by its EVM id. */
  namesChain: boolean
  /** How likely it is that a request goes wrong. */
  faults: number
  /** Page tokens are refused now and then, none of a wallet's more than twice. */
  refusesTokens: boolean
  /** Larger pages are refused, with 413 or 504. */
  mostItems: number
  /** A page begins with so many items of the one before. */
  repeats: number
}
export type Shown = { world: World; night: number }
export type ListingService = {
  url: string
  requests: () => number
  onRequest: { act: () => void }
  close(): void
}

/** Serves what `shown` holds now. */
export async function startListing(shown: Shown, weather: Weather, dice: Dice): Promise<ListingService> {
  let requests = 0
  const refused = new Map<string, number>()
  const onRequest = { act: () => {} }
  const server = createServer((request, response) => {
    requests += 1
    onRequest.act()
    const url = new URL(request.url ?? '/', 'http://loopback')
    if (weather.faults > dice.next()) return goWrong(response, dice)
    const { status, body } = answer(url, { shown, weather, dice, refused })
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

function goWrong(response: ServerResponse, dice: Dice): void {
  const how = dice.pick(['429', '500', '503', 'reset', 'cut', 'garbage'])
  if (how === 'reset') return void response.socket?.destroy()
  if (how === 'cut') {
    response.writeHead(200, { 'content-length': '500', 'content-type': 'application/json' })
    response.write('{"transactions":[')
    return void setImmediate(() => response.socket?.destroy())
  }
  const status = how === 'garbage' ? 200 : Number(how)
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(how === '429' ? { 'retry-after': '0' } : {}),
  })
  response.end(how === 'garbage' ? '{"transactions":' : '{"message":"not now","error":"","statusCode":0}')
}

type Asking = { shown: Shown; weather: Weather; dice: Dice; refused: Map<string, number> }
const refuse = (message: string) => ({
  status: 400,
  body: { message, error: 'Bad Request', statusCode: 400 },
})

const tooLarge = (dice: Dice) => {
  const status = dice.pick([413, 504])
  return { status, body: { message: 'the page is too large', error: 'Too Large', statusCode: status } }
}

/** Blocks have no transactions of their own here: whether a block is there is all that is asked. */
function answerBlock(number: number, { world }: Shown): { status: number; body: unknown } {
  if (number <= world.blocks.length) return { status: 200, body: { transactions: [] } }
  return { status: 404, body: { message: 'no such block', error: 'Not Found', statusCode: 404 } }
}

function answer(url: URL, { shown, weather, dice, refused }: Asking): { status: number; body: unknown } {
  const [, wallet = ''] =
    /^\/v1\/chains\/[^/]+\/addresses\/(0x[0-9a-f]{40})\/transactions$/.exec(url.pathname) ?? []
  const [, block] = /^\/v1\/chains\/[^/]+\/blocks\/(\d+)\/transactions$/.exec(url.pathname) ?? []
  if (block !== undefined) return answerBlock(Number(block), shown)
  if (wallet === '') return refuse('no such path')
  if (Number(url.searchParams.get('pageSize') ?? 10) > weather.mostItems) return tooLarge(dice)
  const token = url.searchParams.get('pageToken')
  const times = refused.get(wallet + token) ?? 0
  if (token !== null && weather.refusesTokens && times < 2 && dice.next() < 0.3) {
    refused.set(wallet + token, times + 1)
    return refuse('the page token has expired')
  }
  const descending = url.searchParams.get('sortOrder') === 'desc'
  const [from, to] = ['startBlock', 'endBlock'].map((name) => Number(url.searchParams.get(name)))
  const inside = listed(shown.world, shown.night).filter(
    ({ block, content }) =>
      block.number >= (from ?? 0) && block.number < (to ?? 0) && viewOf(content, wallet) !== undefined,
  )
  const items = sort(inside, weather.ties, descending)
  const start = token === null ? 0 : Number(Buffer.from(token, 'base64url').toString().split(' ')[1])
  const first = Math.max(0, start - (token === null ? 0 : weather.repeats))
  const size = Math.min(Number(url.searchParams.get('pageSize') ?? 10), weather.pageItems + weather.repeats)
  const page = items.slice(first, first + size)
  const end = first + size
  const next = end < items.length ? Buffer.from(`offset ${end}`).toString('base64url') : ''
  const transactions = page.map((placed) => itemOf(placed, wallet, { shown, weather }))
  return { status: 200, body: { nextPageToken: next, transactions } }
}

function sort(items: Placed[], ties: TieOrder, descending: boolean): Placed[] {
  const second = ({ block }: Placed) => Math.floor(block.timeMs / 1000)
  const place = (a: Placed, b: Placed) => a.block.number - b.block.number || a.index - b.index
  const digest = ({ content }: Placed) => createHash('md5').update(content.hash).digest('hex')
  const tie = (a: Placed, b: Placed) =>
    ties === 'hash' ? (digest(a) < digest(b) ? -1 : 1) : ties === 'chain' ? place(a, b) : place(b, a)
  const rising = items.sort((a, b) => second(a) - second(b) || tie(a, b))
  if (!descending) return rising
  // What "against" means turns with the direction.
  return rising.sort((a, b) => second(b) - second(a) || (ties === 'hash' ? tie(a, b) : -tie(a, b)))
}

function itemOf(
  { block, index, content }: Placed,
  wallet: string,
  { shown, weather }: Pick<Asking, 'shown' | 'weather'>,
): unknown {
  const view = viewOf(content, wallet) as Content
  const { world } = shown
  return {
    nativeTransaction: {
      blockNumber: String(block.number),
      blockTimestamp: Math.floor(block.timeMs / 1000),
      ...(world.givesMs ? { blockTimestampMilliseconds: block.timeMs } : {}),
      blockHash: block.hash,
      ...(weather.namesChain ? { chainId: '43114' } : {}),
      blockIndex: index,
      txHash: content.hash,
      txStatus: content.status,
      txType: content.type,
      gasLimit: content.gasLimit,
      gasUsed: content.gasUsed,
      gasPrice: content.gasPrice,
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
