import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { type Fault, type ReceivedRequest, send } from './loopback.ts'

/** Writes a response to one request; `original` is the correct response. */
export type FaultyResponse = (
  response: ServerResponse,
  original: ServiceResponse,
  request: ReceivedRequest,
) => unknown

/** Applies a faulty response to the requests that `where` selects. */
export function faultWhere(where: (request: ReceivedRequest) => boolean, respond: FaultyResponse): Fault {
  return (request) =>
    where(request)
      ? async (response, original) => void (await respond(response, original, request))
      : undefined
}

const json = { 'content-type': 'application/json' }

/** A complete response with this status, body and headers. */
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

/** The correct page of a wallet listing with changed JSON. Other responses are unchanged. */
export function withChangedPage(
  change: (page: Listing, request: ReceivedRequest) => unknown,
): FaultyResponse {
  return withChangedBody(/^\/v1\/chains\/[^/]+\/addresses\/[^/]+\/transactions$/, (body, request) =>
    change(body as Listing, request),
  )
}

/** The correct page of a block listing with changed JSON. Other responses are unchanged. */
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

/** The correct response, compressed. */
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

/** Connection errors. */
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
  'a response that is not HTTP': (response) => response.socket?.end('hello\r\n\r\n'),
}

/** Responses that do not complete within the timeout. */
export const SLOW_FAULTS: Record<string, FaultyResponse> = {
  'no response': () => {},
  'a body that stalls': (response, original) =>
    startResponse(response, original).write(firstHalf(original.body)),
  'a body sent byte by byte': (response, original) => {
    startResponse(response, original)
    let at = 0
    const timer = setInterval(() => response.write(original.body[at++] ?? ''), 10)
    response.once('close', () => clearInterval(timer))
  },
}

const itemOutsideTheRange = withChangedPage(({ transactions: [first, ...others], ...page }) => {
  const nativeTransaction = { ...first?.nativeTransaction, blockNumber: '421' }
  return { ...page, transactions: [{ ...first, nativeTransaction }, ...others] }
})

/** Complete 2xx responses whose body is not a page. */
export const BODY_FAULTS: Record<string, FaultyResponse> = {
  HTML: respondWith(200, '<html><body>Maintenance</body></html>', { 'content-type': 'text/html' }),
  'an empty body': respondWith(200, ''),
  null: respondWith(200, 'null'),
  'a list': respondWith(200, '[]'),
  'an empty object': respondWith(200, '{}'),
  'a truncated body delimited by the close of the connection': (response, { body }) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { ...json, connection: 'close' }).end(firstHalf(body))
  },
  'half a page': (response, { body }) => response.writeHead(200, json).end(firstHalf(body)),
  'invalid gzip': respondWith(200, 'not gzip', { 'content-encoding': 'gzip' }),
  'truncated gzip': compressed('gzip', (body) => gzipSync(body).subarray(0, -20)),
  'an unsupported content-encoding': compressed('x-rot', (body) => Buffer.from(body).reverse()),
  'bytes that are not UTF-8': (response, { body }) =>
    response.writeHead(200, json).end(Buffer.from(body.replace('{', '{"note":"é",'), 'latin1')),
  'a token that is a number': withChangedPage((page) => ({ ...page, nextPageToken: 7 })),
  'a token that is an object': withChangedPage((page) => ({ ...page, nextPageToken: {} })),
  'an item outside the range': (response, original, request) => {
    // An empty page contains no item to change.
    if ((JSON.parse(original.body) as Partial<Listing>).transactions?.length === 0)
      return resetConnection(response, original, request)
    return itemOutsideTheRange(response, original, request)
  },
  'status 204': respondWith(204, ''),
}

/** Transient server errors. */
export const STATUS_FAULTS: Record<string, FaultyResponse> = Object.fromEntries(
  [undefined, '0', '-1', 'soon', 'Sun, 06 Nov 1994 08:49:37 GMT'].map((after, at) => [
    `status ${500 + (at % 4)} with Retry-After ${after}`,
    respondWith(500 + (at % 4), '{"message":"down"}', after === undefined ? {} : { 'retry-after': after }),
  ]),
)

/** Responses that are valid but unusual. */
export const UNUSUAL_RESPONSES: Record<string, FaultyResponse> = {
  'a wrong content-type': (response, { body }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(body),
  gzip: compressed('gzip', (body) => gzipSync(body)),
  'GZIP in upper case': compressed('GZIP', (body) => gzipSync(body)),
  brotli: compressed('br', (body) => brotliCompressSync(body)),
  deflate: compressed('deflate', (body) => deflateSync(body)),
  'unknown fields': withChangedPage((page) => ({ ...page, more: { of: ['this'] } })),
  'null as the last token': withChangedPage((page) => ({
    ...page,
    nextPageToken: page.nextPageToken ?? null,
  })),
  'an empty string as the last token': withChangedPage((page) => ({
    ...page,
    nextPageToken: page.nextPageToken ?? '',
  })),
  'items of a page in another order, except the first and last': withChangedPage(
    ({ transactions, ...page }) => ({
      ...page,
      transactions: [
        ...transactions.slice(0, 1),
        ...transactions.slice(1, -1).reverse(),
        ...transactions.slice(1).slice(-1),
      ],
    }),
  ),
}
