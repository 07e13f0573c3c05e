import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { ServiceAnswer } from '../../src/demo-server/data-service.ts'
import { type Asked, type Fault, send } from './loopback.ts'

/** Answers one request in its own way, with the right answer at hand. */
export type Break = (response: ServerResponse, answer: ServiceAnswer, asked: Asked) => unknown

/** Breaks the answers to the requests that `where` picks. */
export function breakWhere(where: (asked: Asked) => boolean, broken: Break): Fault {
  return (asked) =>
    where(asked) ? async (response, answer) => void (await broken(response, answer, asked)) : undefined
}

const json = { 'content-type': 'application/json' }

/** A whole answer of the given status, headers and body. */
export function says(status: number, body: string | Buffer, headers: Record<string, string> = {}): Break {
  return (response) => response.writeHead(status, { ...json, ...headers }).end(body)
}

export type Listing = {
  nextPageToken?: unknown
  transactions: { nativeTransaction: Record<string, unknown> }[]
}
export type BlockListing = { nextPageToken?: unknown; transactions: Record<string, unknown>[] }

/** The right page of a wallet's listing with its JSON changed. Any other response stays as it is. */
export function changed(change: (page: Listing, asked: Asked) => unknown): Break {
  return changedPage(/^\/v1\/chains\/[^/]+\/addresses\/[^/]+\/transactions$/, (body, asked) =>
    change(body as Listing, asked),
  )
}

/** The right page of a block's listing with its JSON changed. Any other response stays as it is. */
export function changedBlock(change: (page: BlockListing, asked: Asked) => unknown): Break {
  return changedPage(/^\/v1\/chains\/[^/]+\/blocks\/[^/]+\/transactions$/, (body, asked) =>
    change(body as BlockListing, asked),
  )
}

function changedPage(path: RegExp, change: (body: unknown, asked: Asked) => unknown): Break {
  return (response, answer, asked) => {
    if (answer.status !== 200 || !path.test(asked.path)) return send(response, answer)
    const body: unknown = JSON.parse(answer.body)
    return response.writeHead(200, json).end(JSON.stringify(change(body, asked)))
  }
}

/** The right answer, packed. */
function packed(encoding: string, pack: (body: string) => Buffer): Break {
  return (response, { body }) =>
    response.writeHead(200, { ...json, 'content-encoding': encoding }).end(pack(body))
}

const half = (body: string) => body.slice(0, body.length / 2)
const started = (response: ServerResponse, { body }: ServiceAnswer) => {
  response.writeHead(200, { ...json, 'content-length': String(Buffer.byteLength(body)) })
  return response
}
const gone: Break = (response) => response.socket?.resetAndDestroy()

/** Connections that break. */
export const CONNECTION_FAULTS: Record<string, Break> = {
  'a reset before the headers': gone,
  'a reset in the middle of the body': (response, answer, asked) =>
    started(response, answer).write(half(answer.body), () => gone(response, answer, asked)),
  'a body shorter than its content-length': (response, answer) =>
    started(response, answer).write(half(answer.body), () => response.socket?.end()),
  'a chunked body without its last chunk': (response, { body }) =>
    response.writeHead(200, json).write(half(body), () => response.socket?.end()),
  'an answer that is no HTTP': (response) => response.socket?.end('hello\r\n\r\n'),
}

/** Answers that do not end in time. */
export const SLOW_FAULTS: Record<string, Break> = {
  'no answer at all': () => {},
  'a body that stalls': (response, answer) => started(response, answer).write(half(answer.body)),
  'a body that drips': (response, answer) => {
    started(response, answer)
    let at = 0
    const drip = setInterval(() => response.write(answer.body[at++] ?? ''), 10)
    response.once('close', () => clearInterval(drip))
  },
}

/** Whole answers with status 200 whose body is not a page. */
export const BODY_FAULTS: Record<string, Break> = {
  HTML: says(200, '<html><body>Maintenance</body></html>', { 'content-type': 'text/html' }),
  'an empty body': says(200, ''),
  null: says(200, 'null'),
  'a list': says(200, '[]'),
  'an empty object': says(200, '{}'),
  'a cut body that only the close ends': (response, { body }) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { ...json, connection: 'close' }).end(half(body))
  },
  'half a page': (response, { body }) => response.writeHead(200, json).end(half(body)),
  'broken gzip': says(200, 'not gzip', { 'content-encoding': 'gzip' }),
  'cut gzip': packed('gzip', (body) => gzipSync(body).subarray(0, -20)),
  'an encoding nobody asked for': packed('x-rot', (body) => Buffer.from(body).reverse()),
  'bytes that are not UTF-8': (response, { body }) =>
    response.writeHead(200, json).end(Buffer.from(body.replace('{', '{"note":"é",'), 'latin1')),
  'a token that is a number': changed((page) => ({ ...page, nextPageToken: 7 })),
  'a token that is an object': changed((page) => ({ ...page, nextPageToken: {} })),
  'an item outside the range': changed(({ transactions: [first, ...others], ...page }) => {
    const nativeTransaction = { ...first?.nativeTransaction, blockNumber: '421' }
    return { ...page, transactions: [{ ...first, nativeTransaction }, ...others] }
  }),
  'status 204': says(204, ''),
}

/** Errors that pass. */
export const STATUS_FAULTS: Record<string, Break> = Object.fromEntries(
  [500, 502, 503].flatMap((status) =>
    [undefined, '0', '-1', 'soon', 'Sun, 06 Nov 1994 08:49:37 GMT'].map((after) => [
      `status ${status} with Retry-After ${after}`,
      says(status, '{"message":"down"}', after === undefined ? {} : { 'retry-after': after }),
    ]),
  ),
)

/** Unusual answers that are right. */
export const ODD_ANSWERS: Record<string, Break> = {
  'a wrong content-type': (response, { body }) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(body),
  gzip: packed('gzip', (body) => gzipSync(body)),
  'GZIP in capitals': packed('GZIP', (body) => gzipSync(body)),
  brotli: packed('br', (body) => brotliCompressSync(body)),
  deflate: packed('deflate', (body) => deflateSync(body)),
  'unknown fields': changed((page) => ({ ...page, more: { of: ['this'] } })),
  'null as the last token': changed((page) => ({ ...page, nextPageToken: page.nextPageToken ?? null })),
  'empty text as the last token': changed((page) => ({ ...page, nextPageToken: page.nextPageToken ?? '' })),
  'items of a page in any order but its ends': changed(({ transactions, ...page }) => ({
    ...page,
    transactions: [
      ...transactions.slice(0, 1),
      ...transactions.slice(1, -1).reverse(),
      ...transactions.slice(1).slice(-1),
    ],
  })),
}
