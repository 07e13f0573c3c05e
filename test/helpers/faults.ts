import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { type Fault, type ReceivedRequest, send } from './loopback.ts'

/** Answers one request in its own way, with the right answer at hand. */
export type FaultyResponse = (
  response: ServerResponse,
  original: ServiceResponse,
  request: ReceivedRequest,
) => unknown

/** Breaks the answers to the requests that `where` picks. */
export function faultWhere(where: (request: ReceivedRequest) => boolean, respond: FaultyResponse): Fault {
  return (request) =>
    where(request)
      ? async (response, original) => void (await respond(response, original, request))
      : undefined
}

const json = { 'content-type': 'application/json' }

/** A whole answer of the given status, headers and body. */
export function respondWith(
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): FaultyResponse {
  return (response) => response.writeHead(status, { ...json, ...headers }).end(body)
}

export type Listing = {
  nextPageToken?: unknown
  transactions: { nativeTransaction: Record<string, unknown> }[]
}
export type BlockListing = { nextPageToken?: unknown; transactions: Record<string, unknown>[] }

/** The right page of a wallet's listing with its JSON changed. Any other response stays as it is. */
export function withChangedPage(
  change: (page: Listing, request: ReceivedRequest) => unknown,
): FaultyResponse {
  return withChangedBody(/^\/v1\/chains\/[^/]+\/addresses\/[^/]+\/transactions$/, (body, request) =>
    change(body as Listing, request),
  )
}

/** The right page of a block's listing with its JSON changed. Any other response stays as it is. */
export function withChangedBlockPage(
  change: (page: BlockListing, request: ReceivedRequest) => unknown,
): FaultyResponse {
  return withChangedBody(/^\/v1\/chains\/[^/]+\/blocks\/[^/]+\/transactions$/, (body, request) =>
    change(body as BlockListing, request),
  )
}

function withChangedBody(
  path: RegExp,
  change: (body: unknown, request: ReceivedRequest) => unknown,
): FaultyResponse {
  return (response, original, request) => {
    if (original.status !== 200 || !path.test(request.path)) return send(response, original)
    const body: unknown = JSON.parse(original.body)
    return response.writeHead(200, json).end(JSON.stringify(change(body, request)))
  }
}

/** The right answer, packed. */
function compressed(encoding: string, compress: (body: string) => Buffer): FaultyResponse {
  return (response, { body }) =>
    response.writeHead(200, { ...json, 'content-encoding': encoding }).end(compress(body))
}

const firstHalf = (body: string) => body.slice(0, body.length / 2)
const startResponse = (response: ServerResponse, { body }: ServiceResponse) => {
  response.writeHead(200, { ...json, 'content-length': String(Buffer.byteLength(body)) })
  return response
}
const resetConnection: FaultyResponse = (response) => response.socket?.resetAndDestroy()

/** Connections that break. */
export const CONNECTION_FAULTS: Record<string, FaultyResponse> = {
  'a reset before the headers': resetConnection,
  'a reset in the middle of the body': (response, original, request) =>
    startResponse(response, original).write(firstHalf(original.body), () =>
      resetConnection(response, original, request),
    ),
  'a body shorter than its content-length': (response, original) =>
    startResponse(response, original).write(firstHalf(original.body), () => response.socket?.end()),
  'a chunked body without its last chunk': (response, { body }) =>
    response.writeHead(200, json).write(firstHalf(body), () => response.socket?.end()),
  'an answer that is no HTTP': (response) => response.socket?.end('hello\r\n\r\n'),
}

/** Answers that do not end in time. */
export const SLOW_FAULTS: Record<string, FaultyResponse> = {
  'no answer at all': () => {},
  'a body that stalls': (response, original) =>
    startResponse(response, original).write(firstHalf(original.body)),
  'a body that drips': (response, original) => {
    startResponse(response, original)
    let at = 0
    const drip = setInterval(() => response.write(original.body[at++] ?? ''), 10)
    response.once('close', () => clearInterval(drip))
  },
}

/** Whole answers with status 200 whose body is not a page. */
export const BODY_FAULTS: Record<string, FaultyResponse> = {
  HTML: respondWith(200, '<html><body>Maintenance</body></html>', { 'content-type': 'text/html' }),
  'an empty body': respondWith(200, ''),
  null: respondWith(200, 'null'),
  'a list': respondWith(200, '[]'),
  'an empty object': respondWith(200, '{}'),
  'a cut body that only the close ends': (response, { body }) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { ...json, connection: 'close' }).end(firstHalf(body))
  },
  'half a page': (response, { body }) => response.writeHead(200, json).end(firstHalf(body)),
  'broken gzip': respondWith(200, 'not gzip', { 'content-encoding': 'gzip' }),
  'cut gzip': compressed('gzip', (body) => gzipSync(body).subarray(0, -20)),
  'an encoding nobody asked for': compressed('x-rot', (body) => Buffer.from(body).reverse()),
  'bytes that are not UTF-8': (response, { body }) =>
    response.writeHead(200, json).end(Buffer.from(body.replace('{', '{"note":"é",'), 'latin1')),
  'a token that is a number': withChangedPage((page) => ({ ...page, nextPageToken: 7 })),
  'a token that is an object': withChangedPage((page) => ({ ...page, nextPageToken: {} })),
  'an item outside the range': withChangedPage(({ transactions: [first, ...others], ...page }) => {
    const nativeTransaction = { ...first?.nativeTransaction, blockNumber: '421' }
    return { ...page, transactions: [{ ...first, nativeTransaction }, ...others] }
  }),
  'status 204': respondWith(204, ''),
}

/** Errors that pass. */
export const STATUS_FAULTS: Record<string, FaultyResponse> = Object.fromEntries(
  [500, 502, 503].flatMap((status) =>
    [undefined, '0', '-1', 'soon', 'Sun, 06 Nov 1994 08:49:37 GMT'].map((after) => [
      `status ${status} with Retry-After ${after}`,
      respondWith(status, '{"message":"down"}', after === undefined ? {} : { 'retry-after': after }),
    ]),
  ),
)

/** Unusual answers that are right. */
export const UNUSUAL_RESPONSES: Record<string, FaultyResponse> = {
  'a wrong content-type': (response, { body }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(body),
  gzip: compressed('gzip', (body) => gzipSync(body)),
  'GZIP in capitals': compressed('GZIP', (body) => gzipSync(body)),
  brotli: compressed('br', (body) => brotliCompressSync(body)),
  deflate: compressed('deflate', (body) => deflateSync(body)),
  'unknown fields': withChangedPage((page) => ({ ...page, more: { of: ['this'] } })),
  'null as the last token': withChangedPage((page) => ({
    ...page,
    nextPageToken: page.nextPageToken ?? null,
  })),
  'empty text as the last token': withChangedPage((page) => ({
    ...page,
    nextPageToken: page.nextPageToken ?? '',
  })),
  'items of a page in any order but its ends': withChangedPage(({ transactions, ...page }) => ({
    ...page,
    transactions: [
      ...transactions.slice(0, 1),
      ...transactions.slice(1, -1).reverse(),
      ...transactions.slice(1).slice(-1),
    ],
  })),
}
