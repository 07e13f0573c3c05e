import { createHash } from 'node:crypto'
import type { DataService } from '../../src/demo-server/data-service.ts'

export type Item = { nativeTransaction: Native; erc20Transfers?: unknown[]; [field: string]: unknown }
export type Native = { txHash: string; blockNumber: string; blockIndex: number }
export type JsonResponse<Row> = {
  status: number
  headers: Record<string, string>
  body: { nextPageToken?: string; transactions: Row[]; message: string; statusCode: number; error: string }
}

/** Sends a GET request to the service and parses the body of the response. */
export async function fetchJson<Row = Item>(
  service: DataService,
  url: string,
  headers: Record<string, string> = {},
): Promise<JsonResponse<Row>> {
  const response = await service.handle({ method: 'GET', url, headers })
  return { ...response, body: JSON.parse(response.body) }
}

// biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of the body
export type AnyResponse = { status: number; headers: Record<string, string>; body: any }

/** Sends a request such as `POST /v1/webhooks` to the service, with an optional JSON body and API key. */
export async function sendRequest(
  service: DataService,
  request: string,
  { body, key }: { body?: unknown; key?: string } = {},
): Promise<AnyResponse> {
  const [method = '', url = ''] = request.split(' ')
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { ...type, ...(key === undefined ? {} : { 'x-service-api-key': key }) }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await service.handle({ method, url, headers, ...text })
  return { ...response, body: response.body === '' ? '' : JSON.parse(response.body) }
}

/** Fetches all pages of a listing. Throws if a response is not a 200 or if a page token repeats. */
export async function fetchPages<Row = Item>(service: DataService, url: string): Promise<Row[][]> {
  const pages: Row[][] = []
  const seen = new Set<string>()
  let token: string | undefined
  do {
    const { status, body } = await fetchJson<Row>(service, token === undefined ? url : withToken(url, token))
    if (status !== 200) throw new Error(`${url}: ${status} ${body.message}`)
    pages.push(body.transactions)
    token = body.nextPageToken
    if (token !== undefined && seen.has(token)) throw new Error(`${url}: a page token was returned twice`)
    if (token !== undefined) seen.add(token)
  } while (token !== undefined)
  return pages
}

export async function fetchAll<Row = Item>(service: DataService, url: string): Promise<Row[]> {
  return (await fetchPages<Row>(service, url)).flat()
}

/** Digest of a history in the format of the reference data: SHA-256 of the transaction hashes, one per line. */
export function digestHistory(items: readonly Item[]): string {
  const hashes = items.map((item) => item.nativeTransaction.txHash)
  return createHash('sha256').update(hashes.join('\n')).digest('hex')
}

export function withToken(url: string, token: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}pageToken=${encodeURIComponent(token)}`
}

/** Path of a wallet listing, by default on chain 43114. */
export function walletPath(address: string, query = '', chain = '43114'): string {
  return `/v1/chains/${chain}/addresses/${address}/transactions${query && `?${query}`}`
}

export function blockPath(block: number | string, query = '', chain = '43114'): string {
  return `/v1/chains/${chain}/blocks/${block}/transactions${query && `?${query}`}`
}
