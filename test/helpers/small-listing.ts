// An independent witness on purpose: answers the listings from the interface's text alone (sections 4.1 and 4.3).
import { createHash } from 'node:crypto'
import type { ServiceAnswer } from '../../src/demo-server/data-service.ts'
import { type Loopback, startLoopback } from './loopback.ts'

export const ALICE = `0x${'1'.repeat(40)}`
export const BOB = `0x${'2'.repeat(40)}`
export const CAROL = `0x${'3'.repeat(40)}`
const STRANGER = `0x${'9'.repeat(40)}`

/** A plain transfer in a block of its own. */
type Transfer = { block: number; to: string; timeMs: number }

/** Transfers to one wallet in consecutive blocks, two seconds apart. */
export const transfersTo = (to: string, count: number, { from = 1_000, startMs = 1_700_000_000_000 } = {}) =>
  Array.from({ length: count }, (_, at) => ({ block: from + at, to, timeMs: startMs + at * 2_000 }))

const hash = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`

const native = ({ block, to, timeMs }: Transfer) => ({
  blockNumber: String(block),
  blockTimestamp: Math.floor(timeMs / 1000),
  blockHash: hash(`block ${block}`),
  chainId: '43114',
  blockIndex: Number(to[2]) - 1,
  txHash: hash(`${block} ${to}`),
  ...{ txStatus: '1', txType: 2, gasLimit: '21000', gasUsed: '21000', gasPrice: '25000000000', nonce: '0' },
  from: { address: STRANGER },
  to: { address: to },
  method: { callType: 'NATIVE_TRANSFER', methodHash: '' },
  value: '1000',
})

export type SmallListing = Loopback & {
  /** What it lists; may be replaced at any time. */
  shown: { transfers: readonly Transfer[]; head?: number; blockStatus?: number; refusal?: string }
  /** Statuses that wallets are answered with instead of a page. */
  refused: Map<string, number>
}

/** Lists plain transfers; blocks only up to `head`, others answer `blockStatus`. Page tokens are offsets. */
export async function startSmallListing(shown: SmallListing['shown']): Promise<SmallListing> {
  const refused = new Map<string, number>()
  const answer = async ({ url }: { url: string }): Promise<ServiceAnswer> => {
    const { pathname, searchParams: query } = new URL(url, 'http://loopback')
    const [, kind, name = ''] = /\/(addresses|blocks)\/(\w+)\/transactions$/.exec(pathname) ?? []
    if (kind === 'blocks')
      return shown.head !== undefined && Number(name) <= shown.head
        ? page([])
        : refusal(shown.blockStatus ?? 404)
    const status = refused.get(name)
    return status === undefined
      ? list(
          shown.transfers.filter(({ to }) => to === name),
          query,
        )
      : refusal(status, shown.refusal)
  }
  return { ...(await startLoopback({ answer })), shown, refused }
}

const json = { 'content-type': 'application/json' }
const page = (items: readonly Transfer[], nextPageToken = ''): ServiceAnswer => {
  const transactions = items.map((item) => ({ nativeTransaction: native(item) }))
  return { status: 200, headers: json, body: JSON.stringify({ nextPageToken, transactions }) }
}
const refusal = (status: number, message = 'address not supported'): ServiceAnswer => ({
  ...{ status, headers: json },
  body: JSON.stringify({ message, error: 'Refused', statusCode: status }),
})

function list(all: readonly Transfer[], query: URLSearchParams): ServiceAnswer {
  const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
  const sign = query.get('sortOrder') === 'desc' ? -1 : 1
  const inside = all.filter(({ block }) => block >= from && block < to)
  inside.sort((a, b) => sign * (a.block - b.block))
  const start = Number(query.get('pageToken') ?? 0)
  const end = start + Number(query.get('pageSize'))
  return page(inside.slice(start, end), end < inside.length ? String(end) : '')
}
