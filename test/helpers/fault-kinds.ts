import { gzipSync } from 'node:zlib'
import {
  BODY_FAULTS,
  CONNECTION_FAULTS,
  type FaultyResponse,
  respondWith,
  SLOW_FAULTS,
  UNUSUAL_RESPONSES,
  withChangedPage,
} from './faults.ts'
import type { ReceivedRequest } from './loopback.ts'
import { requestAgain } from './request-again.ts'

/** A fault or an unusual response that a service, or a proxy in front of it, can produce. */
export type FaultKind = {
  what: string
  respond: FaultyResponse
  /** Requests that it can affect. @default all */
  where?: (request: ReceivedRequest) => boolean
  /** Request timeout of the client, for slow responses. */
  timeoutMs?: number
}

const SLOW_MS = 120
const JSON_TYPE = { 'content-type': 'application/json' }
const html = (status: number) => `<html><body><h1>${status}</h1><pre>upstream</pre></body></html>`

/** Errors of proxies and load balancers, mostly as HTML. */
const PROXY_FAULTS: Record<string, FaultyResponse> = {
  ...Object.fromEntries(
    [500, 502, 503, 504, 520, 522, 524, 529].map((status) => [
      `status ${status} as HTML`,
      respondWith(status, html(status), { 'content-type': 'text/html' }),
    ]),
  ),
  'status 408': respondWith(408, ''),
  'status 425': respondWith(425, ''),
  'status 500 with a list of messages': respondWith(500, '{"message":["one","two"],"statusCode":500}'),
  'status 503 with a truncated body': (response) => {
    response.writeHead(503, { 'content-length': '999' }).write('{"mess', () => response.socket?.end())
  },
  'status 206 with half a page': (response, { body }) =>
    response.writeHead(206, JSON_TYPE).end(body.slice(99)),
  'status 201 with a page': (response, { body }) => response.writeHead(201, JSON_TYPE).end(body),
}

const now = () => new Date().toUTCString()

/** Rate-limit responses. */
const QUOTA_FAULTS: Record<string, FaultyResponse> = {
  '429 with Retry-After 0': respondWith(429, '', { 'retry-after': '0' }),
  '429 with a fraction of a second': respondWith(429, '{"message":"slow"}', { 'retry-after': '0.02' }),
  '429 with a date': (response) => response.writeHead(429, { 'retry-after': now() }).end(),
  '429 with ratelimit-reset': respondWith(429, 'slow', {
    'ratelimit-reset': '0',
    'ratelimit-remaining': '0',
  }),
  '429 as HTML': respondWith(429, html(429), { 'content-type': 'text/html', 'retry-after': '0' }),
  '503 with Retry-After': respondWith(503, '', { 'retry-after': '0.01' }),
}

/** More connection and protocol errors. */
const WIRE_FAULTS: Record<string, FaultyResponse> = {
  'a close before the headers': (response) => response.socket?.end(),
  'a body longer than its content-length': (response, { body }) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length - 9}\r\n\r\n`
    response.socket?.end(head + body)
  },
  'an invalid chunk': (response) =>
    response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n'),
  'unterminated headers': (response) => response.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: '),
  'headers that are too long': (response, { body }) =>
    response.writeHead(200, { ...JSON_TYPE, 'x-padding': 'x'.repeat(60_000) }).end(body),
  'a status that is not a number': (response) => response.socket?.end('HTTP/1.1 OK\r\n\r\n'),
  'a reset after half of the headers': (response) =>
    response.socket?.write('HTTP/1.1 200 OK\r\n', () => response.socket?.resetAndDestroy()),
}

const flippedBit: FaultyResponse = (response, { body }) => {
  const bytes = gzipSync(body)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bytes)
}

/** Complete responses that are not a page, and invalid pages. */
const PAGE_FAULTS: Record<string, FaultyResponse> = {
  'gzip with a flipped bit': flippedBit,
  'gzip in gzip': (response, { body }) =>
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(body))),
  'gzip declared as brotli': (response, { body }) =>
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'br' }).end(gzipSync(body)),
  'gzip without content-encoding': (response, { body }) =>
    response.writeHead(200, JSON_TYPE).end(gzipSync(body)),
  'an error with status 200': respondWith(
    200,
    '{"message":"oops","statusCode":500,"error":"Internal Server Error"}',
  ),
  'a page twice': (response, { body }) => response.writeHead(200, JSON_TYPE).end(body + body),
  'transactions that are null': withChangedPage((page) => ({ ...page, transactions: null })),
  'transactions that are an object': withChangedPage((page) => ({
    ...page,
    transactions: { ...page.transactions },
  })),
  'a deeply nested list': respondWith(200, '['.repeat(200_000)),
  'a token that is a list': withChangedPage((page) => ({ ...page, nextPageToken: ['a'] })),
  'reversed order': withChangedPage((page) => ({
    ...page,
    transactions: page.transactions.toReversed(),
  })),
  'the start of another range': async (response, _response, request) => {
    const { body } = await requestAgain(request, { pageToken: undefined, startBlock: '0', endBlock: '421' })
    const { transactions, ...page } = JSON.parse(body) as { transactions: { nativeTransaction: object }[] }
    const [first, ...others] = transactions
    const outOfRange = { ...first, nativeTransaction: { ...first?.nativeTransaction, blockNumber: '9999' } }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ...page, transactions: [outOfRange, ...others] }))
  },
}

/** The details of single transactions are not pages. */
const isListing = ({ path }: ReceivedRequest) => path.endsWith('/transactions')

const hasToken = ({ query }: ReceivedRequest) => query.has('pageToken')

/** Page tokens that expire, and pages at the wrong position. */
const TOKEN_FAULTS: Record<string, FaultyResponse> = {
  ...Object.fromEntries(
    [400, 404, 410, 422].map((status) => [
      `a page token rejected with ${status}`,
      respondWith(status, JSON.stringify({ message: ['page token expired'], statusCode: status })),
    ]),
  ),
  'a token that repeats': withChangedPage((page, { query }) => ({
    ...page,
    nextPageToken: page.nextPageToken && query.get('pageToken'),
  })),
  'the first page instead of a later one': async (response, _response, request) => {
    const { body } = await requestAgain(request, { pageToken: undefined })
    response.writeHead(200, JSON_TYPE).end(body)
  },
}

/** More responses that are valid but unusual. */
const MORE_UNUSUAL_RESPONSES: Record<string, FaultyResponse> = {
  'pages smaller than requested': async (response, _response, request) => {
    const { body } = await requestAgain(request, { pageSize: '13' })
    response.writeHead(200, JSON_TYPE).end(body)
  },
  'every item of a page twice': withChangedPage(({ transactions, ...page }) => ({
    ...page,
    transactions: transactions.flatMap((item) => [item, item]),
  })),
  'a repeated first item': withChangedPage(({ transactions, ...page }) => ({
    ...page,
    transactions: [...transactions.slice(0, 1), ...transactions],
  })),
  'early hints before the response': (response, { body }) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(200, JSON_TYPE).end(body)
  },
  'a close after the response': (response, { body }) =>
    response.writeHead(200, { ...JSON_TYPE, connection: 'close' }).end(body),
  'an HTTP/1.0 response': (response, { body }) => response.socket?.end(`HTTP/1.0 200 OK\r\n\r\n${body}`),
  'no content-type': (response, { body }) => response.writeHead(200).end(body),
  'whitespace around the JSON': (response, { body }) =>
    response.writeHead(200, JSON_TYPE).end(` \n${body}\n `),
}

const refusal = (message: string, result: string | null = null) =>
  respondWith(200, JSON.stringify({ status: '0', message, result }))

/** Refusals of explorers, which answer them with status 200. */
const EXPLORER_REFUSALS: Record<string, FaultyResponse> = {
  'a refusal for the rate': refusal('NOTOK', 'Max calls per sec rate limit reached (3/sec)'),
  'a refusal for the load': refusal(
    'NOTOK',
    'Unexpected err, timeout occurred or server too busy. Please try again later',
  ),
  'a query timeout': refusal('Query Timeout occured. Please select a smaller result dataset'),
}

const kinds = (faults: Record<string, FaultyResponse>, rest: Partial<FaultKind> = {}): FaultKind[] =>
  Object.entries(faults).map(([what, respond]) => ({ what, respond, ...rest }))

/** Every kind of fault, with a unique name. */
export const FAULT_KINDS: readonly FaultKind[] = [
  ...kinds({ ...CONNECTION_FAULTS, ...WIRE_FAULTS }),
  ...kinds(SLOW_FAULTS, { timeoutMs: SLOW_MS }),
  ...kinds(BODY_FAULTS),
  ...kinds(PAGE_FAULTS, { where: isListing }),
  ...kinds({ ...PROXY_FAULTS, ...QUOTA_FAULTS }),
  ...kinds(TOKEN_FAULTS, { where: hasToken }),
  ...kinds({ ...UNUSUAL_RESPONSES, ...MORE_UNUSUAL_RESPONSES }),
]

const ANY_BODY = new Set([
  'HTML',
  'null',
  'a list',
  'an empty object',
  'an empty body',
  'half a page',
  'invalid gzip',
  'truncated gzip',
  'gzip with a flipped bit',
  'an error with status 200',
])

/** Faults of any API: their responses do not depend on the shape of a page. */
const TRANSPORT_FAULTS: readonly FaultKind[] = [
  ...kinds({ ...CONNECTION_FAULTS, ...WIRE_FAULTS, ...PROXY_FAULTS, ...QUOTA_FAULTS }),
  ...kinds({ ...BODY_FAULTS, ...PAGE_FAULTS }).filter(({ what }) => ANY_BODY.has(what)),
]

/** Faults of explorers. */
export const EXPLORER_FAULTS: readonly FaultKind[] = [...TRANSPORT_FAULTS, ...kinds(EXPLORER_REFUSALS)]
