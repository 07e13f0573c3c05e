// An independent implementation of the listings, written from sections 4.1 and 4.3 of INTERFACE.md. It deliberately
// shares no code with the program.
import { createHash } from 'node:crypto'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { type Loopback, startLoopback } from './loopback.ts'

export const ALICE = `0x${'1'.repeat(40)}`
export const BOB = `0x${'2'.repeat(40)}`
export const CAROL = `0x${'3'.repeat(40)}`
const SENDER = `0x${'9'.repeat(40)}`

/** A plain transfer, the only transaction of its block. */
type Transfer = { block: number; to: string; timeMs: number }

/** Transfers to one wallet in consecutive blocks, two seconds apart. By default, block 1,000 is the first one. */
export const transfersTo = (
  to: string,
  count: number,
  {
    from = 1_000,
    startMs = 1_700_000_000_000 + (from - 1_000) * 2_000,
  }: {
    from?: number
    startMs?: number
  } = {},
) => Array.from({ length: count }, (_, at) => ({ block: from + at, to, timeMs: startMs + at * 2_000 }))

const hash = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`

const native = ({ block, to, timeMs }: Transfer) => ({
  blockNumber: String(block),
  blockTimestamp: Math.floor(timeMs / 1000),
  blockHash: hash(`block ${block}`),
  chainId: '43114',
  blockIndex: Number(to[2]) - 1,
  txHash: hash(`${block} ${to}`),
  txStatus: '1',
  txType: 2,
  gasLimit: '21000',
  gasUsed: '21000',
  gasPrice: '25000000000',
  nonce: '0',
  from: { address: SENDER },
  to: { address: to },
  method: { callType: 'NATIVE_TRANSFER', methodHash: '' },
  value: '1000',
})

export type SmallListing = Loopback & {
  /** Content of the listings; can be changed at any time. */
  listing: { transfers: readonly Transfer[]; head?: number; blockStatus?: number; refusal?: string }
  /** Error statuses by wallet: these wallets get no page. */
  refused: Map<string, number>
}

/** Lists plain transfers. Blocks exist up to `head`; others get `blockStatus`. Page tokens are offsets. */
export async function startSmallListing(listing: SmallListing['listing']): Promise<SmallListing> {
  const refused = new Map<string, number>()
  const handle = async ({ url }: { url: string }): Promise<ServiceResponse> => {
    const { pathname, searchParams: query } = new URL(url, 'http://loopback')
    const [, kind, name = ''] = /\/(addresses|blocks)\/(\w+)\/transactions$/.exec(pathname) ?? []
    if (kind === 'blocks')
      return listing.head !== undefined && Number(name) <= listing.head
        ? page([])
        : errorResponse(listing.blockStatus ?? 404)
    const status = refused.get(name)
    return status === undefined
      ? listTransfers(
          listing.transfers.filter(({ to }) => to === name),
          query,
        )
      : errorResponse(status, listing.refusal)
  }
  return { ...(await startLoopback({ handle })), listing, refused }
}

const json = { 'content-type': 'application/json' }
const page = (items: readonly Transfer[], nextPageToken = ''): ServiceResponse => {
  const transactions = items.map((item) => ({ nativeTransaction: native(item) }))
  return { status: 200, headers: json, body: JSON.stringify({ nextPageToken, transactions }) }
}
const errorResponse = (status: number, message = 'address not supported'): ServiceResponse => ({
  status,
  headers: json,
  body: JSON.stringify({ message, error: 'Refused', statusCode: status }),
})

function listTransfers(all: readonly Transfer[], query: URLSearchParams): ServiceResponse {
  const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
  const sign = query.get('sortOrder') === 'desc' ? -1 : 1
  const inRange = all.filter(({ block }) => block >= from && block < to)
  inRange.sort((a, b) => sign * (a.block - b.block))
  const start = Number(query.get('pageToken') ?? 0)
  const end = start + Number(query.get('pageSize'))
  return page(inRange.slice(start, end), end < inRange.length ? String(end) : '')
}
