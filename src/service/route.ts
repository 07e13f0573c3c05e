import type { ServiceRequest } from './data-service.ts'
import { type BlockQuery, readBlockQuery, readWalletQuery, type WalletQuery } from './query.ts'
import { Refusal } from './refusal.ts'

export type Listing = WalletListing | BlockListing
export type WalletListing = WalletQuery & {
  readonly of: 'wallet'
  readonly chain: string
  /** Lower case. */
  readonly address: string
}
export type BlockListing = BlockQuery & {
  readonly of: 'block'
  readonly chain: string
  /** Number of the block, or its hash in lower case. */
  readonly block: number | string
}

/**
 * Reads what a request asks for: the welcome, or a listing, whose parameters are read when called (a stranger at
 * the door learns nothing about them). Refuses with 404 what is not served here, with 400 what is not well formed.
 */
export function readRoute({ method, url }: ServiceRequest): 'welcome' | (() => Listing) {
  const cut = url.indexOf('?')
  const path = cut < 0 ? url : url.slice(0, cut)
  const query = cut < 0 ? '' : url.slice(cut + 1)
  if (path === '/' && method === 'GET') return 'welcome'
  return () => {
    const segments = decodeSegments(url, path)
    const listing = method === 'GET' ? readListing(segments, query) : undefined
    if (!listing) throw new Refusal(404, `${method} ${path} is not served here: ${SERVED}.`)
    return listing
  }
}

export const SERVED_PATHS = {
  wallet: '/v1/chains/{chainId}/addresses/{address}/transactions',
  block: '/v1/chains/{chainId}/blocks/{blockId}/transactions',
} as const

const SERVED = `expected GET /, GET ${SERVED_PATHS.wallet} or GET ${SERVED_PATHS.block}`

/** Segments after the first slash, decoded one by one, so that an encoded slash stays inside its segment. */
function decodeSegments(url: string, path: string): string[] {
  try {
    decodeURIComponent(url)
    return path.split('/').slice(1).map(decodeURIComponent)
  } catch {
    throw new Refusal(
      400,
      'The URL is not well formed: expected UTF-8, with every % followed by two hex digits.',
    )
  }
}

function readListing(segments: readonly string[], query: string): Listing | undefined {
  const [version, chains, chain, things, id, transactions, ...more] = segments
  const shape = [version, chains, transactions].join('/') === 'v1/chains/transactions' && more.length === 0
  if (!shape || !chain || !id) return undefined
  const parameters = new URLSearchParams(query)
  if (things === 'addresses') {
    return { of: 'wallet', chain, address: readAddress(id), ...readWalletQuery(parameters) }
  }
  if (things === 'blocks')
    return { of: 'block', chain, block: readBlockId(id), ...readBlockQuery(parameters) }
  return undefined
}

function readAddress(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase()
  throw new Refusal(400, `address must be 0x and 40 hex digits, but is ${JSON.stringify(text)}.`)
}

function readBlockId(text: string): number | string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  const expected = 'a block number, or a block hash of 0x and 64 hex digits'
  throw new Refusal(400, `blockId must be ${expected}, but is ${JSON.stringify(text)}.`)
}
