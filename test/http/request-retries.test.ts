import { describe, expect, test } from 'vitest'
import type { RateLimiter, RequestEvent, ServiceClient } from '../../src/index.ts'
import { closedUrl } from '../helpers/serve.ts'
import { clientOf, failureOf, type Reply, reset, startServer } from './server.ts'

const addresses = ['0x01']
const newWebhook = {
  eventType: 'address_activity',
  url: 'https://r.example.com',
  chainId: '1',
  metadata: { addresses },
}

const repeatable: Record<string, (client: ServiceClient) => Promise<unknown>> = {
  getTransaction: (client) => client.getTransaction({ chainId: '1', txHash: '0x02' }),
  reindexNft: (client) => client.reindexNft({ chainId: '1', address: '0x01', tokenId: 1 }),
  updateWebhook: (client) => client.updateWebhook({ id: 'w1', name: 'n' }),
  deleteWebhook: (client) => client.deleteWebhook({ id: 'w1' }),
  addWebhookAddresses: (client) => client.addWebhookAddresses({ id: 'w1', addresses }),
  removeWebhookAddresses: (client) => client.removeWebhookAddresses({ id: 'w1', addresses }),
}
const once: Record<string, (client: ServiceClient) => Promise<unknown>> = {
  createWebhook: (client) => client.createWebhook(newWebhook),
  rotateSharedSecret: (client) => client.rotateSharedSecret(),
}
const callOf = (name: string) =>
  (repeatable[name] ?? once[name]) as (client: ServiceClient) => Promise<unknown>

const good: Reply = { body: { id: 'w1', secret: 's' } }
const throttled: Reply = { status: 429, headers: { 'ratelimit-remaining': '0', 'retry-after': '60' } }

/** Starts a server that sends the given replies in turn and then succeeds. */
function serverAfter(...first: Reply[]) {
  return startServer((_, count) => first[count - 1] ?? good)
}

/** A rate limiter that never waits and records the Retry-After of each 429. */
function openLimiter() {
  const throttles: (number | undefined)[] = []
  const rateLimiter: RateLimiter = {
    acquire: async () => (outcome) => {
      if (outcome.kind === 'throttled') throttles.push(outcome.retryAfterMs)
    },
    pausedForMs: () => 0,
  }
  return { rateLimiter, throttles }
}

describe.for(Object.keys(repeatable))('%s', (name) => {
  test('is retried after a lost response and a server error', async () => {
    const { url, received } = await serverAfter(reset, { status: 502 })
    await callOf(name)(clientOf(url))
    expect(received).toHaveLength(3)
    const [{ headers: _, ...first } = {}, ...others] = received
    expect(others).toEqual([expect.objectContaining(first), expect.objectContaining(first)])
  })
})

describe.for(Object.keys(once))('%s', (name) => {
  test.for<{ when: string; reply: Reply }>([
    { when: 'the connection breaks', reply: reset },
    { when: 'no response arrives in time', reply: () => {} },
    { when: 'the service responds with 500', reply: { status: 500 } },
    {
      when: 'the service responds with 502 and Retry-After',
      reply: { status: 502, headers: { 'retry-after': '0' } },
    },
    { when: 'the service responds with 503', reply: { status: 503 } },
    { when: 'the successful response cannot be parsed', reply: { status: 201, body: '{' } },
  ])('is not retried when $when, and the error says why', async ({ reply }) => {
    const { url, received } = await serverAfter(reply)
    const error = await failureOf(callOf(name)(clientOf(url, { timeoutMs: 300 })))
    expect(error).toMatchObject({
      mayHaveActed: true,
      fix: 'Check whether the request took effect before you send it again.',
    })
    expect((error as Error).message).toMatch(/; it may have taken effect$/)
    expect(received).toHaveLength(1)
  })

  test('is retried if the service certainly did not process it', async () => {
    const { rateLimiter } = openLimiter()
    const { url, received } = await serverAfter(throttled, { status: 503, headers: { 'retry-after': '0' } })
    await callOf(name)(clientOf(url, { rateLimiter }))
    expect(received).toHaveLength(3)
  })

  test('is retried if no connection can be established', async () => {
    const events: RequestEvent['kind'][] = []
    const client = clientOf(await closedUrl(), { onEvent: ({ kind }) => events.push(kind) })
    expect(await failureOf(callOf(name)(client))).toMatchObject({ mayHaveActed: false })
    expect(events).toEqual(['sent', 'retried', 'sent', 'retried', 'sent'])
  })
})

test('waits out any number of 429s through the rate limiter', async () => {
  const { rateLimiter, throttles } = openLimiter()
  const { url, received } = await serverAfter(...Array.from({ length: 20 }, () => throttled))
  const client = clientOf(url, { rateLimiter, retry: { retries: 0 } })
  expect(await client.getWebhook({ id: 'w1' })).toMatchObject({ id: 'w1' })
  expect(throttles).toEqual(Array.from({ length: 20 }, () => 60_000))
  expect(received).toHaveLength(21)
})

test('waits out 429s after the last retry', async () => {
  const { rateLimiter } = openLimiter()
  const { url } = await serverAfter({ status: 500 }, { status: 500 }, throttled, throttled)
  expect(await clientOf(url, { rateLimiter }).getWebhook({ id: 'w1' })).toMatchObject({ id: 'w1' })
})

test('handles a 429 whose body cannot be decompressed as a 429', async () => {
  const { rateLimiter, throttles } = openLimiter()
  const broken = { status: 429, headers: { 'content-encoding': 'br', 'retry-after': '3' }, body: 'no brotli' }
  const { url } = await serverAfter(broken)
  await clientOf(url, { rateLimiter }).getWebhook({ id: 'w1' })
  expect(throttles).toEqual([3_000])
})

describe('deleteWebhook', () => {
  test('succeeds if the webhook is missing after a lost response', async () => {
    const { url, received } = await serverAfter(reset, { status: 404 })
    expect(await clientOf(url).deleteWebhook({ id: 'w1' })).toBeUndefined()
    expect(received).toHaveLength(2)
  })

  test('rejects if the webhook never existed', async () => {
    const { url } = await serverAfter({ status: 404 })
    const error = await failureOf(clientOf(url).deleteWebhook({ id: 'w1' }))
    expect(error).toMatchObject({ code: 'REQUEST_REFUSED', status: 404, mayHaveActed: false })
  })
})

test('a 400 after a lost response says that the first attempt may have taken effect', async () => {
  const { url } = await serverAfter(reset, { status: 400 })
  const error = await failureOf(clientOf(url).addWebhookAddresses({ id: 'w1', addresses }))
  expect(error).toMatchObject({ code: 'REQUEST_REFUSED', status: 400, mayHaveActed: true })
})

test('a read never reports that it may have taken effect', async () => {
  const { url } = await startServer(() => reset)
  const error = await failureOf(clientOf(url).getWebhook({ id: 'w1' }))
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', mayHaveActed: false })
})

describe('reindexNft', () => {
  const nft = { chainId: '1', address: '0x01', tokenId: 1 }

  test.for<{ when: string; headers: Record<string, string>; retryAfterMs?: number }>([
    { when: 'states no quota', headers: {} },
    {
      when: 'states that quota remains',
      headers: { 'ratelimit-remaining': '9', 'retry-after': '5' },
      retryAfterMs: 5_000,
    },
    {
      when: 'asks to wait an hour',
      headers: { 'ratelimit-remaining': '0', 'retry-after': '3600' },
      retryAfterMs: 3_600_000,
    },
  ])(
    'treats a 429 as a limit of its own, without pausing others, when it $when',
    async ({ headers, retryAfterMs }) => {
      const { rateLimiter, throttles } = openLimiter()
      const { url, received } = await serverAfter({ status: 429, headers })
      const error = await failureOf(clientOf(url, { rateLimiter }).reindexNft(nft))
      expect(error).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfterMs, mayHaveActed: false })
      expect(throttles).toEqual([])
      expect(received).toHaveLength(1)
    },
  )

  test('waits out a 429 that states that the quota is used up', async () => {
    const { rateLimiter, throttles } = openLimiter()
    const { url } = await serverAfter(throttled)
    await clientOf(url, { rateLimiter }).reindexNft(nft)
    expect(throttles).toEqual([60_000])
  })

  test.for([429, 409])(
    'reports after a lost response and a %i that it may have taken effect',
    async (status) => {
      const { url } = await serverAfter(reset, { status })
      expect(await failureOf(clientOf(url).reindexNft(nft))).toMatchObject({ status, mayHaveActed: true })
    },
  )
})
