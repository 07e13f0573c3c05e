import { readFileSync } from 'node:fs'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../../src/http/http-client.ts'
import { closedUrl } from '../helpers/serve.ts'
import { failureOf, type Reply, reset, startServer } from './server.ts'

function clientAt(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    baseUrl,
    apiKey: 'k3y',
    apiKeyHeader: 'x-service-api-key',
    timeoutMs: 120_000,
    connections: 2,
    ...options,
  })
  onTestFinished(() => client.close())
  return client
}

const never = new AbortController().signal
const get = { method: 'GET', pathAndQuery: '/v1/thing?a=1' } as const

test.for(['POST', 'PATCH', 'DELETE'] as const)('sends a JSON body with %s', async (method) => {
  const { url, received } = await startServer(() => ({ status: 201 }))
  const body = { addresses: ['0xé'] }
  const answer = await clientAt(url).send({ method, pathAndQuery: '/v1/thing', body }, never)
  expect(answer.status).toBe(201)
  expect(received).toEqual([expect.objectContaining({ method, path: '/v1/thing', body })])
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-api-key': 'k3y',
  })
})

test('names itself and its version', async () => {
  const { url, received } = await startServer(() => ({}))
  await clientAt(url).send(get, never)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(received[0]?.headers['user-agent']).toBe(`walletlake/${version}`)
})

test('sends no content-type without a body', async () => {
  const { url, received } = await startServer(() => ({}))
  await clientAt(url).send({ method: 'POST', pathAndQuery: '/v1/thing' }, never)
  expect(received[0]).toMatchObject({ method: 'POST', body: undefined })
  expect(received[0]?.headers).not.toHaveProperty('content-type')
})

test.for(['/v1/thing?a=1', '/v1/thing'])(
  'sends the key as a query parameter with %s',
  async (pathAndQuery) => {
    const { url, received } = await startServer(() => ({}))
    const client = clientAt(url, { apiKey: 'k&y', apiKeyParameter: 'apikey' })
    await client.send({ method: 'GET', pathAndQuery }, never)
    expect(received[0]?.query.apikey).toBe('k&y')
    expect(received[0]?.headers).not.toHaveProperty('x-service-api-key')
  },
)

test('does not follow redirects, so that the key is sent to one host only', async () => {
  const other = await startServer(() => ({}))
  const { url } = await startServer(() => ({ status: 307, headers: { location: other.url } }))
  const answer = await clientAt(url).send(get, never)
  expect(answer.status).toBe(307)
  expect(other.received).toEqual([])
})

test.for([401, 403, 404, 429, 503])(
  'returns status %i even if the body cannot be decompressed',
  async (status) => {
    const headers = { 'content-encoding': 'gzip', 'retry-after': '7' }
    const { url } = await startServer(() => ({ status, headers, body: 'no gzip' }))
    const answer = await clientAt(url).send(get, never)
    expect(answer).toMatchObject({ status, headers: { 'retry-after': '7' }, body: Buffer.alloc(0) })
  },
)

const cut: Reply = (response) =>
  response.writeHead(401, { 'content-length': '100' }).write('half', () => reset(response))
const stalled: Reply = (response) => response.writeHead(401).write('half')

test.for([
  { when: 'is truncated', reply: cut },
  { when: 'never ends', reply: stalled },
])('returns status 401 even if the body $when', async ({ reply }) => {
  const { url } = await startServer(() => reply)
  const answer = await clientAt(url, { timeoutMs: 300 }).send(get, never)
  expect(answer).toMatchObject({ status: 401, body: Buffer.alloc(0) })
})

test('reports a successful response as malformed if it cannot be decompressed', async () => {
  const { url } = await startServer(() => ({ headers: { 'content-encoding': 'br' }, body: 'no brotli' }))
  const error = await failureOf(clientAt(url).send(get, never))
  expect(error).toMatchObject({
    code: 'PAGE_MALFORMED',
    message: 'the body cannot be decompressed (9 bytes, br)',
  })
})

const large = Buffer.alloc(10_001, 'x')
test.for([
  { as: 'plain', headers: {}, body: large },
  { as: 'gzip', headers: { 'content-encoding': 'gzip' }, body: gzipSync(large) },
  { as: 'brotli', headers: { 'content-encoding': 'br' }, body: brotliCompressSync(large) },
])('rejects a body above the limit, sent as $as', async ({ headers, body }) => {
  const { url } = await startServer(() => ({ headers, body }))
  const error = await failureOf(clientAt(url, { maxBodyBytes: 10_000 }).send(get, never))
  expect(error).toMatchObject({
    code: 'PAGE_MALFORMED',
    message: 'the body is larger than the limit of 10000 bytes',
  })
  const whole = await clientAt(url, { maxBodyBytes: 10_001 }).send(get, never)
  expect(whole.body).toEqual(large)
})

test('reports that a request was not sent if nothing listens', async () => {
  const url = await closedUrl()
  const error = await failureOf(clientAt(url).send(get, never))
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', mayHaveActed: false })
  expect((error as Error).message).toBe(`nothing listens at ${url} (ECONNREFUSED)`)
})

test.for([
  { when: 'the connection breaks', reply: reset },
  { when: 'no response arrives in time', reply: () => {} },
])('reports that a request may have taken effect when $when', async ({ reply }) => {
  const { url } = await startServer(() => reply)
  const error = await failureOf(clientAt(url, { timeoutMs: 300 }).send(get, never))
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', mayHaveActed: true })
  expect((error as Error).message).not.toContain('?a=1')
})

test('rejects with the reason of the signal while it waits for a response', async () => {
  const stop = new AbortController()
  const { url } = await startServer(() => () => stop.abort(new Error('enough')))
  const error = await failureOf(clientAt(url).send(get, stop.signal))
  expect(error).toEqual(new Error('enough'))
})

test('rejects with the reason of the signal while it waits for a connection, unsent', {
  tags: ['long'],
}, async () => {
  const stop = new AbortController()
  const { url, received } = await startServer(() => () => {})
  const client = clientAt(url, { connections: 1, timeoutMs: 2_000 })
  const first = failureOf(client.send(get, never))
  const second = failureOf(client.send(get, stop.signal))
  stop.abort(new Error('enough'))
  expect(await second).toEqual(new Error('enough'))
  expect(await first).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(received).toHaveLength(1)
})

test('sends nothing once the signal is aborted', async () => {
  const { url, received } = await startServer(() => ({}))
  const error = await failureOf(clientAt(url).send(get, AbortSignal.abort(new Error('enough'))))
  expect(error).toEqual(new Error('enough'))
  expect(received).toEqual([])
})

test('returns the response that follows early hints', async () => {
  const early: Reply = (response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(200, { 'x-final': 'late' }).end('whole')
  }
  const { url } = await startServer(() => early)
  const answer = await clientAt(url).send(get, never)
  expect(answer).toMatchObject({ status: 200, headers: { 'x-final': 'late' }, body: Buffer.from('whole') })
})

const gzip = gzipSync(large)
test.for([
  { as: 'gzip', encoding: 'gzip', body: gzip },
  { as: 'x-gzip', encoding: 'x-gzip', body: gzip },
  { as: 'deflate in zlib format', encoding: 'deflate', body: deflateSync(large) },
  { as: 'raw deflate', encoding: 'deflate', body: deflateRawSync(large) },
  { as: 'brotli', encoding: 'BR', body: brotliCompressSync(large) },
])('decompresses $as', async ({ encoding, body }) => {
  const { url } = await startServer(() => ({ headers: { 'content-encoding': encoding }, body }))
  const answer = await clientAt(url).send(get, never)
  expect(answer.body).toEqual(large)
})

test('strips a byte order mark from a body, compressed or not', async () => {
  const marked = Buffer.from('\ufeff{"a":1}')
  const { url } = await startServer((_, count) =>
    count === 1 ? { body: marked } : { headers: { 'content-encoding': 'gzip' }, body: gzipSync(marked) },
  )
  const client = clientAt(url)
  for (const _ of ['plain', 'packed']) expect((await client.send(get, never)).body.toString()).toBe('{"a":1}')
})
