import type { DataService } from '../../src/demo-server/data-service.ts'

export type Item = { nativeTransaction: Native; erc20Transfers?: unknown[]; [field: string]: unknown }
export type Native = { txHash: string; blockNumber: string; blockIndex: number }
export type Asked<Row> = {
  status: number
  headers: Record<string, string>
  body: { nextPageToken?: string; transactions: Row[]; message: string; statusCode: number; error: string }
}

/** Asks the service once, with its answer's body parsed. */
export async function ask<Row = Item>(
  service: DataService,
  url: string,
  headers: Record<string, string> = {},
): Promise<Asked<Row>> {
  const answer = await service.handle({ method: 'GET', url, headers })
  return { ...answer, body: JSON.parse(answer.body) }
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body
export type Told = { status: number; headers: Record<string, string>; body: any }

/** Sends the service a request, as `POST /v1/webhooks`, with a JSON body where there is one, and a key where there is one. */
export async function tell(
  service: DataService,
  request: string,
  { body, key }: { body?: unknown; key?: string } = {},
): Promise<Told> {
  const [method = '', url = ''] = request.split(' ')
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { ...type, ...(key === undefined ? {} : { 'x-service-api-key': key }) }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await service.handle({ method, url, headers, ...text })
  return { ...answer, body: answer.body === '' ? '' : JSON.parse(answer.body) }
}

/** Follows a listing to its end and gives its pages; every one must be a 200, and every token a new one. */
export async function askPages<Row = Item>(service: DataService, url: string): Promise<Row[][]> {
  const pages: Row[][] = []
  const asked = new Set<string>()
  let token: string | undefined
  do {
    const { status, body } = await ask<Row>(service, token === undefined ? url : withToken(url, token))
    if (status !== 200) throw new Error(`${url}: ${status} ${body.message}`)
    pages.push(body.transactions)
    token = body.nextPageToken
    if (token !== undefined && asked.has(token)) throw new Error(`${url}: a page token came twice`)
    if (token !== undefined) asked.add(token)
  } while (token !== undefined)
  return pages
}

export async function askAll<Row = Item>(service: DataService, url: string): Promise<Row[]> {
  return (await askPages<Row>(service, url)).flat()
}

export function withToken(url: string, token: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}pageToken=${encodeURIComponent(token)}`
}

/** Path of a wallet's listing; chain 43114 unless told. */
export function walletPath(address: string, query = '', chain = '43114'): string {
  return `/v1/chains/${chain}/addresses/${address}/transactions${query && `?${query}`}`
}

export function blockPath(block: number | string, query = '', chain = '43114'): string {
  return `/v1/chains/${chain}/blocks/${block}/transactions${query && `?${query}`}`
}
