import { describe, expect, test } from 'vitest'
import type { ServiceClient } from '../../src/index.ts'
import { clientOf, failureOf, startServer } from './server.ts'

const WORDS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

const newWebhook = { eventType: 'address_activity', url: 'https://r.example.com', chainId: '1' }
const addresses = ['0x01']

/** One call for each kind of request: each method, with and without a body, idempotent or not. */
const calls: Record<string, (client: ServiceClient) => Promise<unknown>> = {
  walletTransactionsPage: (client) => client.walletTransactionsPage({ chainId: '1', address: '0x01' }),
  blockTransactionsPage: (client) => client.blockTransactionsPage({ chainId: '1', blockId: 1 }),
  getTransaction: (client) => client.getTransaction({ chainId: '1', txHash: '0x02' }),
  listChains: (client) => client.listChains(),
  reindexNft: (client) => client.reindexNft({ chainId: '1', address: '0x01', tokenId: 1 }),
  createWebhook: (client) => client.createWebhook({ ...newWebhook, metadata: { addresses } }),
  updateWebhook: (client) => client.updateWebhook({ id: 'w1', name: 'n' }),
  deleteWebhook: (client) => client.deleteWebhook({ id: 'w1' }),
  addWebhookAddresses: (client) => client.addWebhookAddresses({ id: 'w1', addresses }),
  removeWebhookAddresses: (client) => client.removeWebhookAddresses({ id: 'w1', addresses }),
  rotateSharedSecret: (client) => client.rotateSharedSecret(),
}

/** Starts a server that responds with this error only. Its message is a string or a list. */
function refusingServer(status: number, message: string | string[]) {
  return startServer(() => ({ status, body: { message, statusCode: status, error: WORDS[status] } }))
}

describe.for(Object.keys(calls))('%s', (name) => {
  const call = calls[name] as (client: ServiceClient) => Promise<unknown>

  test.for([
    { status: 400, code: 'REQUEST_REFUSED' },
    { status: 401, code: 'KEY_REFUSED' },
    { status: 403, code: 'KEY_REFUSED' },
    { status: 404, code: 'REQUEST_REFUSED' },
    { status: 409, code: 'REQUEST_REFUSED' },
    { status: 302, code: 'REQUEST_REFUSED' },
  ])(
    'rejects with $code without a retry when the service responds with $status',
    async ({ status, code }) => {
      const { url, received } = await refusingServer(status, ['first', 'second'])
      const error = await failureOf(call(clientOf(url)))
      expect(error).toMatchObject({ name: 'ExportError', code, status, mayHaveActed: false })
      expect((error as Error).message).toMatch(new RegExp(`: the service answered ${status}: first; second$`))
      expect(received).toHaveLength(1)
    },
  )

  test.for([500, 502, 503])('rejects after all retries when the service responds with %i', async (status) => {
    const { url, received } = await refusingServer(status, 'down for now')
    const error = await failureOf(call(clientOf(url)))
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status })
    expect((error as Error).message).toContain(`: the service answered ${status}: down for now`)
    const once = name === 'createWebhook' || name === 'rotateSharedSecret'
    expect(received).toHaveLength(once ? 1 : 3)
  })
})

test('names the request without its query', async () => {
  const { url } = await refusingServer(400, 'no such chain: /v1/x?key=1')
  const error = await failureOf(clientOf(url).walletTransactionsPage({ chainId: '7', address: '0x01' }))
  expect((error as Error).message).toBe(
    'transactions of wallet 0x01: the service answered 400: no such chain: /v1/x?…',
  )
})

test.for([
  { form: 'text', message: 'the key k3y-secret is spent' },
  { form: 'a list', message: ['the key k3y-secret', 'is spent'] },
])('redacts a key that the service repeats in $form', async ({ message }) => {
  const { url } = await refusingServer(403, message)
  const error = await failureOf(clientOf(url, { apiKey: 'k3y-secret' }).listChains())
  expect((error as Error).message).toMatch(/the key …;? is spent$/)
})

test.for(['', 'null', '[]', '{"message":null}', '{"message":{"en":"no"}}', '<html>', '{"message":[]}'])(
  'reports the status alone when the body is %j',
  async (body) => {
    const { url } = await startServer(() => ({ status: 404, body }))
    const error = await failureOf(clientOf(url).getChain({ chainId: '1' }))
    expect(error).toMatchObject({ code: 'REQUEST_REFUSED', status: 404 })
    expect((error as Error).message).toMatch(/^chain 1: the service answered 404(: )?$/)
  },
)

test('handles a 401 whose body cannot be decompressed as a refused key', async () => {
  const headers = { 'content-encoding': 'gzip' }
  const { url, received } = await startServer(() => ({ status: 401, headers, body: 'no gzip' }))
  const error = await failureOf(clientOf(url).listChains())
  expect(error).toMatchObject({ code: 'KEY_REFUSED', status: 401 })
  expect(received).toHaveLength(1)
})

const reading: Record<string, (client: ServiceClient) => Promise<unknown>> = {
  ...calls,
  getWebhook: (client) => client.getWebhook({ id: 'w1' }),
  webhooksPage: (client) => client.webhooksPage(),
  webhookAddressesPage: (client) => client.webhookAddressesPage({ id: 'w1' }),
  getSharedSecret: (client) => client.getSharedSecret(),
}
const unread = [
  'reindexNft',
  'updateWebhook',
  'deleteWebhook',
  'addWebhookAddresses',
  'removeWebhookAddresses',
]

describe.for(Object.keys(reading).filter((name) => !unread.includes(name)))('%s', (name) => {
  test.for(['', 'null', '"s3cret"', '<s3cret>', '{"s3cret', '7'])(
    'reports the body %j as malformed without repeating it',
    async (body) => {
      const { url } = await startServer(({ method }) => ({ status: method === 'GET' ? 200 : 201, body }))
      const error = await failureOf((reading[name] as (typeof reading)[string])(clientOf(url)))
      expect(error).toMatchObject({ code: 'PAGE_MALFORMED', cause: undefined })
      expect((error as Error).message).not.toContain('s3cret')
    },
  )
})

const responses = [201, 202, 203, 204, 205, 206, 226].flatMap((status) =>
  ['walletTransactionsPage', 'blockTransactionsPage', 'getTransaction', 'webhooksPage'].map((name) => ({
    status,
    name,
  })),
)

test.for(responses)('$name is repeated when the service responds with $status', async ({ status, name }) => {
  const { url, received } = await startServer(() => ({ status, body: { transactions: [], webhooks: [] } }))
  const error = await failureOf((reading[name] as (typeof reading)[string])(clientOf(url)))
  expect(error).toMatchObject({ code: 'PAGE_MALFORMED' })
  expect((error as Error).message).toMatch(new RegExp(`: the service answered ${status} instead of 200$`))
  expect(received).toHaveLength(3)
})

test.for(unread)('%s succeeds with any body of a successful response', async (name) => {
  const { url } = await startServer((_, count) => ({ status: 200, body: ['', 'OK', '[]'][count - 1] }))
  const client = clientOf(url)
  for (const _ of ['nothing', 'text', 'a list'])
    expect(await (calls[name] as (typeof calls)[string])(client)).toBeUndefined()
})

test.for([7, {}, false, []])('reports a page as malformed if its token is %j', async (nextPageToken) => {
  const { url } = await startServer(() => ({ body: { webhooks: [], nextPageToken } }))
  expect(await failureOf(clientOf(url).webhooksPage())).toMatchObject({ code: 'PAGE_MALFORMED' })
})
