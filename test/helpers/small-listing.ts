import { createHash } from 'node:crypto'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { listingPage } from './listing-page.ts'
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

/** Lists plain transfers. Blocks exist up to `head`; others get `blockStatus`. */
export async function startSmallListing(listing: SmallListing['listing']): Promise<SmallListing> {
  const refused = new Map<string, number>()
  const handle = async ({ url }: { url: string }): Promise<ServiceResponse> => {
    const requested = new URL(url, 'http://loopback')
    const [, kind, name = ''] = /\/(addresses|blocks)\/(\w+)\/transactions$/.exec(requested.pathname) ?? []
    if (kind === 'blocks')
      return Number(name) <= (listing.head ?? -1)
        ? respond(200, { transactions: [] })
        : refuse(listing.blockStatus ?? 404)
    const status = refused.get(name)
    if (status !== undefined) return refuse(status, listing.refusal)
    const items = listing.transfers.map((transfer) => ({ nativeTransaction: native(transfer) }))
    return respond(200, listingPage(items, requested))
  }
  return { ...(await startLoopback({ handle })), listing, refused }
}

const refuse = (status: number, message = 'address not supported') =>
  respond(status, { message, error: 'Refused', statusCode: status })

function respond(status: number, body: object): ServiceResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
