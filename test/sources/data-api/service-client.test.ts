import { describe, expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { createRateLimiter, createServiceClient, type ServiceClientOptions } from '../../../src/index.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { clientOf, failureOf, pagesOf, startServer } from '../../http/server.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'

describe('invalid options', () => {
  test.for<Partial<ServiceClientOptions>>([
    { baseUrl: '' },
    { baseUrl: 'ftp://data.example.com' },
    { baseUrl: 'https://user:s3cret@data.example.com' },
    { baseUrl: 'https://data.example.com?key=s3cret' },
    { apiKey: 's3cret\n' },
    { apiKeyHeader: 's3cret key' },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { concurrency: 0 },
    { concurrency: 257 },
    { concurrency: 1.5 },
  ])('rejects %j without revealing a secret', (options) => {
    const create = () => createServiceClient({ baseUrl: 'https://data.example.com', ...options })
    expect(create).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(create).toThrow(expect.not.objectContaining({ message: expect.stringContaining('s3cret') }))
  })
})

test('sends the key in the configured header, and no header without a key', async () => {
  const { url, received: requestLog } = await startServer(() => ({ body: [] }))
  await clientOf(url, { apiKey: 'k3y', apiKeyHeader: 'x-other' }).listChains()
  await clientOf(url, { apiKey: '' }).listChains()
  expect(requestLog[0]?.headers).toMatchObject({ 'x-other': 'k3y' })
  expect(requestLog[1]?.headers).not.toHaveProperty('x-service-api-key')
})

test('keeps the path of the base URL', async () => {
  const { url, received: requestLog } = await startServer(() => ({ body: [] }))
  await clientOf(`${url}/data-api//`).listChains()
  expect(requestLog[0]?.path).toBe('/data-api/v1/chains')
})

test('has no more requests in flight than its concurrency limit', async () => {
  const { url, received: requestLog } = await startServer(() => ({ body: [] }))
  const inFlight = [0]
  const change: Record<string, number> = { sent: 1, received: -1 }
  const onEvent: ServiceClientOptions['onEvent'] = ({ kind }) =>
    inFlight.push((inFlight.at(-1) ?? 0) + (change[kind] ?? 0))
  const client = clientOf(url, { concurrency: 3, onEvent })
  await Promise.all(Array.from({ length: 12 }, () => client.listChains()))
  expect(requestLog).toHaveLength(12)
  expect(Math.max(...inFlight)).toBe(3)
})

test('a shared rate limiter pauses the requests of all its clients', async () => {
  const rateLimiter = createRateLimiter()
  const { url, received: requestLog } = await startServer(() => ({ body: [] }))
  const stop = new AbortController()
  const permit = await rateLimiter.acquire(stop.signal)
  permit({ kind: 'throttled', retryAfterMs: 2 ** 31 })
  const waiting = [clientOf(url, { rateLimiter }), clientOf(url, { rateLimiter })].map((client) =>
    failureOf(client.listChains({}, { signal: stop.signal })),
  )
  stop.abort(new Error('enough'))
  expect(await Promise.all(waiting)).toEqual([new Error('enough'), new Error('enough')])
  expect(requestLog).toEqual([])
})

test('aborts a call with its own signal, even while it waits for a free slot', async () => {
  const { url, received: requestLog } = await startServer(() => () => {})
  const client = clientOf(url, { concurrency: 1 })
  const first = failureOf(client.listChains())
  const stop = new AbortController()
  const second = failureOf(client.listChains({}, { signal: stop.signal }))
  stop.abort(new Error('enough'))
  expect(await second).toEqual(new Error('enough'))
  await client.close()
  expect(await first).toMatchObject({ code: 'USAGE', message: 'the client is closed' })
  expect(requestLog.length).toBeLessThanOrEqual(1)
})

test('rejects calls after it was closed', async () => {
  const { url, received: requestLog } = await startServer(() => ({ body: [] }))
  const client = clientOf(url)
  await client.close()
  expect(await failureOf(client.listChains())).toMatchObject({ code: 'USAGE' })
  expect(requestLog).toEqual([])
})

test('reports every attempt, response and retry', async () => {
  const { url } = await startServer((_, count) => (count === 1 ? { status: 500 } : { body: [] }))
  const events: string[] = []
  await clientOf(url, { onEvent: ({ kind }) => events.push(kind) }).listChains()
  expect(events).toEqual(['sent', 'received', 'retried', 'sent', 'received'])
})

test("lists the busiest wallet's complete history in both orders", async () => {
  const { url, requests } = await startLoopback(createDataService())
  const client = clientOf(url)
  const [up, down] = await Promise.all(
    (['asc', 'desc'] as const).map((sortOrder) =>
      pagesOf(client.listWalletTransactions({ chainId: 43114, address: BUSIEST, sortOrder })),
    ),
  )
  const hashesOf = (pages: typeof up = []) =>
    pages.flatMap(({ transactions }) => transactions.map((item) => item.nativeTransaction?.txHash))
  expect(new Set(hashesOf(up)).size).toBe(2042)
  expect(hashesOf(down).sort()).toEqual(hashesOf(up).sort())
  expect(requests).toHaveLength(42)
})

test('lists every transaction of a block, by number and by hash', async () => {
  const { url } = await startLoopback(createDataService({ keys: ['k3y'] }))
  const client = clientOf(url, { apiKey: 'k3y' })
  const [whole] = await pagesOf(client.listBlockTransactions({ chainId: '1', blockId: 17173049 }))
  const blockHash = whole?.transactions[0]?.blockHash ?? ''
  const pages = await pagesOf(client.listBlockTransactions({ chainId: '1', blockId: blockHash, pageSize: 7 }))
  expect(pages.length).toBeGreaterThan(1)
  expect(pages.flatMap(({ transactions }) => transactions).slice(0, 100)).toEqual(whole?.transactions)
})

test('continues despite frequent 429s', async () => {
  const quota = { status: 429, headers: { 'retry-after': '0' } }
  const { url } = await startServer((_, count) => (count % 2 === 1 ? quota : { body: [] }))
  const throttles: string[] = []
  const client = clientOf(url, {
    concurrency: 1,
    onEvent: ({ kind }) => kind === 'throttled' && throttles.push(kind),
  })
  for (const _ of ['first', 'second', 'third']) expect(await client.listChains()).toEqual([])
  expect(throttles).toHaveLength(3)
})
