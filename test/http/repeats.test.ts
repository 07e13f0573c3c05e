import { describe, expect, test } from 'vitest'
import type { RateLimiter, RequestEvent, ServiceClient } from '../../src/index.ts'
import { clientOf, closedUrl, failureOf, type Reply, reset, startServer } from './server.ts'

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
const refused: Reply = { status: 429, headers: { 'ratelimit-remaining': '0', 'retry-after': '60' } }

/** Answers with the first replies in turn, then well. */
function serverAfter(...first: Reply[]) {
  return startServer((_, count) => first[count - 1] ?? good)
}

/** A gate that lets everything through and keeps what it was told. */
function openGate() {
  const refusals: (number | undefined)[] = []
  const rateLimiter: RateLimiter = {
    acquire: async () => (outcome) => {
      if (outcome.kind === 'throttled') refusals.push(outcome.retryAfterMs)
    },
    pausedForMs: () => 0,
  }
  return { gate: rateLimiter, refusals }
}

describe.for(Object.keys(repeatable))('%s', (name) => {
  test('is sent again after a lost answer and a fault', async () => {
    const { url, asked } = await serverAfter(reset, { status: 502 })
    await callOf(name)(clientOf(url))
    expect(asked).toHaveLength(3)
    const [{ headers: _, ...first } = {}, ...others] = asked
    expect(others).toEqual([expect.objectContaining(first), expect.objectContaining(first)])
  })
})

describe.for(Object.keys(once))('%s', (name) => {
  test.for<{ when: string; reply: Reply }>([
    { when: 'the connection breaks', reply: reset },
    { when: 'no answer comes in time', reply: () => {} },
    { when: 'it is answered 500', reply: { status: 500 } },
    { when: 'it is answered 502 with Retry-After', reply: { status: 502, headers: { 'retry-after': '0' } } },
    { when: 'it is answered 503', reply: { status: 503 } },
    { when: 'its success cannot be read', reply: { status: 201, body: '{' } },
  ])('is not sent again when $when, and says why', async ({ reply }) => {
    const { url, asked } = await serverAfter(reply)
    const error = await failureOf(callOf(name)(clientOf(url, { timeoutMs: 300 })))
    expect(error).toMatchObject({
      mayHaveActed: true,
      fix: 'See whether the service did it before asking again.',
    })
    expect((error as Error).message).toMatch(/; it may have been carried out$/)
    expect(asked).toHaveLength(1)
  })

  test('is sent again where the service surely did not do it', async () => {
    const { gate: rateLimiter } = openGate()
    const { url, asked } = await serverAfter(refused, { status: 503, headers: { 'retry-after': '0' } })
    await callOf(name)(clientOf(url, { rateLimiter }))
    expect(asked).toHaveLength(3)
  })

  test('is tried again where no connection can be made', async () => {
    const events: RequestEvent['kind'][] = []
    const client = clientOf(await closedUrl(), { onEvent: ({ kind }) => events.push(kind) })
    expect(await failureOf(callOf(name)(client))).toMatchObject({ mayHaveActed: false })
    expect(events).toEqual(['sent', 'retried', 'sent', 'retried', 'sent'])
  })
})

test('waits out 429 through the gate however often it comes', async () => {
  const { gate: rateLimiter, refusals } = openGate()
  const { url, asked } = await serverAfter(...Array.from({ length: 20 }, () => refused))
  const client = clientOf(url, { rateLimiter, retry: { retries: 0 } })
  expect(await client.getWebhook({ id: 'w1' })).toMatchObject({ id: 'w1' })
  expect(refusals).toEqual(Array.from({ length: 20 }, () => 60_000))
  expect(asked).toHaveLength(21)
})

test('waits out 429 after its last try for faults', async () => {
  const { gate: rateLimiter } = openGate()
  const { url } = await serverAfter({ status: 500 }, { status: 500 }, refused, refused)
  expect(await clientOf(url, { rateLimiter }).getWebhook({ id: 'w1' })).toMatchObject({ id: 'w1' })
})

test('counts a 429 whose body does not unpack as a 429', async () => {
  const { gate: rateLimiter, refusals } = openGate()
  const broken = { status: 429, headers: { 'content-encoding': 'br', 'retry-after': '3' }, body: 'no brotli' }
  const { url } = await serverAfter(broken)
  await clientOf(url, { rateLimiter }).getWebhook({ id: 'w1' })
  expect(refusals).toEqual([3_000])
})

describe('deleteWebhook', () => {
  test('counts as done when the webhook is gone after a lost answer', async () => {
    const { url, asked } = await serverAfter(reset, { status: 404 })
    expect(await clientOf(url).deleteWebhook({ id: 'w1' })).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  test('rejects when the webhook was never there', async () => {
    const { url } = await serverAfter({ status: 404 })
    const error = await failureOf(clientOf(url).deleteWebhook({ id: 'w1' }))
    expect(error).toMatchObject({ code: 'REQUEST_REFUSED', status: 404, mayHaveActed: false })
  })
})

test('a refusal after a lost answer says that the first try may count', async () => {
  const { url } = await serverAfter(reset, { status: 400 })
  const error = await failureOf(clientOf(url).addWebhookAddresses({ id: 'w1', addresses }))
  expect(error).toMatchObject({ code: 'REQUEST_REFUSED', status: 400, mayHaveActed: true })
})

test('a read is never said to have acted', async () => {
  const { url } = await startServer(() => reset)
  const error = await failureOf(clientOf(url).getWebhook({ id: 'w1' }))
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', mayHaveActed: false })
})

describe('reindexNft', () => {
  const nft = { chainId: '1', address: '0x01', tokenId: 1 }

  test.for<{ when: string; headers: Record<string, string>; retryAfterMs?: number }>([
    { when: 'says nothing of a quota', headers: {} },
    {
      when: 'says that quota is left',
      headers: { 'ratelimit-remaining': '9', 'retry-after': '5' },
      retryAfterMs: 5_000,
    },
    {
      when: 'asks for the hour',
      headers: { 'ratelimit-remaining': '0', 'retry-after': '3600' },
      retryAfterMs: 3_600_000,
    },
  ])('takes a 429 as its own, holding nothing back, when it $when', async ({ headers, retryAfterMs }) => {
    const { gate: rateLimiter, refusals } = openGate()
    const { url, asked } = await serverAfter({ status: 429, headers })
    const error = await failureOf(clientOf(url, { rateLimiter }).reindexNft(nft))
    expect(error).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfterMs, mayHaveActed: false })
    expect(refusals).toEqual([])
    expect(asked).toHaveLength(1)
  })

  test('waits out a 429 that says that the quota is spent', async () => {
    const { gate: rateLimiter, refusals } = openGate()
    const { url } = await serverAfter(refused)
    await clientOf(url, { rateLimiter }).reindexNft(nft)
    expect(refusals).toEqual([60_000])
  })

  test.for([429, 409])('says after a lost answer and a %i that it may be done', async (status) => {
    const { url } = await serverAfter(reset, { status })
    expect(await failureOf(clientOf(url).reindexNft(nft))).toMatchObject({ status, mayHaveActed: true })
  })
})
