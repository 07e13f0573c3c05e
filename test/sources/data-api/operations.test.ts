import { describe, expect, test } from 'vitest'
import type { ServiceClient } from '../../../src/index.ts'
import { clientOf, failureOf, pagesOf, type ReceivedRequest, startServer } from '../../http/server.ts'

const wallet = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
const hash = `0x${'ab'.repeat(32)}`
const webhook = {
  id: 'w 1',
  eventType: 'address_activity',
  url: 'https://receiver.example.com/hook',
  chainId: '43114',
  metadata: { addresses: [wallet] },
}

type Operation = {
  name: string
  interfaceSection: string
  call: (client: ServiceClient) => Promise<unknown>
  asks: Partial<ReceivedRequest>
  answers?: unknown
  status?: number
  gives: unknown
}

const operations: Operation[] = [
  {
    name: 'walletTransactionsPage',
    interfaceSection: '4.3',
    call: (client) => client.walletTransactionsPage({ chainId: 43114, address: wallet }),
    asks: {
      method: 'GET',
      path: `/v1/chains/43114/addresses/${wallet}/transactions`,
      query: { pageSize: '100', sortOrder: 'asc' },
    },
    answers: { nextPageToken: null, transactions: [{ nativeTransaction: null, more: 1 }] },
    gives: { nextPageToken: null, transactions: [{ nativeTransaction: null, more: 1 }] },
  },
  {
    name: 'walletTransactionsPage with all its parameters',
    interfaceSection: '4.3',
    call: (client) =>
      client.walletTransactionsPage({
        chainId: '43114',
        address: wallet,
        startBlock: 0,
        endBlock: 12n,
        sortOrder: 'desc',
        pageSize: 7,
        pageToken: 'a/b=',
        extraParameters: { sortBy: 'value' },
      }),
    asks: {
      query: {
        startBlock: '0',
        endBlock: '12',
        sortOrder: 'desc',
        pageSize: '7',
        pageToken: 'a/b=',
        sortBy: 'value',
      },
    },
    answers: { transactions: [] },
    gives: { transactions: [] },
  },
  {
    name: 'blockTransactionsPage',
    interfaceSection: '4.1',
    call: (client) => client.blockTransactionsPage({ chainId: '1', blockId: hash, pageSize: 0 }),
    asks: { method: 'GET', path: `/v1/chains/1/blocks/${hash}/transactions`, query: { pageSize: '0' } },
    answers: { nextPageToken: 'n', transactions: [{ txHash: hash, blockNumber: 7 }] },
    gives: { nextPageToken: 'n', transactions: [{ txHash: hash, blockNumber: 7 }] },
  },
  {
    name: 'getTransaction',
    interfaceSection: '4.3',
    call: (client) => client.getTransaction({ chainId: '1', txHash: hash }),
    asks: { method: 'GET', path: `/v1/chains/1/transactions/${hash}`, query: {} },
    answers: { nativeTransaction: { txHash: hash } },
    gives: { nativeTransaction: { txHash: hash } },
  },
  {
    name: 'listChains',
    interfaceSection: '4.3',
    call: (client) => client.listChains(),
    asks: { method: 'GET', path: '/v1/chains', query: {} },
    answers: { chains: [{ chainId: '1' }] },
    gives: [{ chainId: '1' }],
  },
  {
    name: 'listChains of a service that returns a bare list',
    interfaceSection: '4.3',
    call: (client) => client.listChains({ network: 'testnet' }),
    asks: { query: { network: 'testnet' } },
    answers: [{ chainId: '1' }],
    gives: [{ chainId: '1' }],
  },
  {
    name: 'getChain',
    interfaceSection: '4.3',
    call: (client) => client.getChain({ chainId: '43114' }),
    asks: { method: 'GET', path: '/v1/chains/43114' },
    answers: { chainId: '43114' },
    gives: { chainId: '43114' },
  },
  {
    name: 'reindexNft',
    interfaceSection: '4.2',
    call: (client) => client.reindexNft({ chainId: '43114', address: wallet, tokenId: 2n ** 256n - 1n }),
    asks: {
      method: 'POST',
      path: `/v1/chains/43114/nfts/collections/${wallet}/tokens/${2n ** 256n - 1n}:reindex`,
      body: undefined,
    },
    status: 201,
    answers: '',
    gives: undefined,
  },
  {
    name: 'createWebhook',
    interfaceSection: '4.4',
    call: (client) =>
      client.createWebhook({
        eventType: 'address_activity',
        url: webhook.url,
        chainId: '43114',
        metadata: { addresses: [wallet] },
        includeLogs: true,
        name: undefined,
      }),
    asks: {
      method: 'POST',
      path: '/v1/webhooks',
      body: {
        eventType: 'address_activity',
        url: webhook.url,
        chainId: '43114',
        metadata: { addresses: [wallet] },
        includeLogs: true,
      },
    },
    status: 201,
    answers: { ...webhook, status: 'active' },
    gives: { ...webhook, status: 'active' },
  },
  {
    name: 'getWebhook',
    interfaceSection: '4',
    call: (client) => client.getWebhook({ id: 'w 1' }),
    asks: { method: 'GET', path: '/v1/webhooks/w%201' },
    answers: webhook,
    gives: webhook,
  },
  {
    name: 'webhooksPage',
    interfaceSection: '4',
    call: (client) => client.webhooksPage({ status: 'inactive', pageToken: 't' }),
    asks: {
      method: 'GET',
      path: '/v1/webhooks',
      query: { pageSize: '100', status: 'inactive', pageToken: 't' },
    },
    answers: { webhooks: [webhook] },
    gives: { webhooks: [webhook] },
  },
  {
    name: 'updateWebhook',
    interfaceSection: '4',
    call: (client) => client.updateWebhook({ id: 'w1', status: 'inactive', name: '' }),
    asks: { method: 'PATCH', path: '/v1/webhooks/w1', body: { status: 'inactive', name: '' } },
    answers: webhook,
    gives: webhook,
  },
  {
    name: 'deleteWebhook',
    interfaceSection: '4',
    call: (client) => client.deleteWebhook({ id: 'w1' }),
    asks: { method: 'DELETE', path: '/v1/webhooks/w1', body: undefined },
    status: 204,
    gives: undefined,
  },
  {
    name: 'addWebhookAddresses',
    interfaceSection: '4.5',
    call: (client) => client.addWebhookAddresses({ id: 'w1', addresses: [wallet] }),
    asks: { method: 'PATCH', path: '/v1/webhooks/w1/addresses', body: { addresses: [wallet] } },
    answers: webhook,
    gives: webhook,
  },
  {
    name: 'removeWebhookAddresses',
    interfaceSection: '4.6',
    call: (client) => client.removeWebhookAddresses({ id: 'w1', addresses: [wallet] }),
    asks: { method: 'DELETE', path: '/v1/webhooks/w1/addresses', body: { addresses: [wallet] } },
    answers: '',
    gives: undefined,
  },
  {
    name: 'webhookAddressesPage',
    interfaceSection: '4',
    call: (client) => client.webhookAddressesPage({ id: 'w1', pageSize: 5 }),
    asks: { method: 'GET', path: '/v1/webhooks/w1/addresses', query: { pageSize: '5' } },
    answers: { addresses: [wallet], totalAddresses: 1 },
    gives: { addresses: [wallet], totalAddresses: 1 },
  },
  {
    name: 'getSharedSecret',
    interfaceSection: '5',
    call: (client) => client.getSharedSecret(),
    asks: { method: 'GET', path: '/v1/webhooks:getSharedSecret' },
    answers: { secret: 's' },
    gives: 's',
  },
  {
    name: 'rotateSharedSecret',
    interfaceSection: '5',
    call: (client) => client.rotateSharedSecret(),
    asks: { method: 'POST', path: '/v1/webhooks:generateOrRotateSharedSecret', body: undefined },
    status: 201,
    answers: { secret: 's' },
    gives: 's',
  },
]

test.for(operations)(
  'sends the request that the interface defines: $name ($interfaceSection)',
  async (operation) => {
    const { call, asks, answers, status = 200, gives } = operation
    const { url, received } = await startServer(() => ({ status, body: answers }))
    expect(await call(clientOf(`${url}/`, { apiKey: 'k3y' }))).toEqual(gives)
    expect(received).toEqual([expect.objectContaining(asks)])
    expect(received[0]?.headers['x-service-api-key']).toBe('k3y')
  },
)

test.for([
  {
    what: 'pages of a wallet',
    list: 'transactions',
    of: (client: ServiceClient) =>
      client.listWalletTransactions({ chainId: '1', address: wallet, startBlock: 5 }),
  },
  {
    what: 'pages of a block',
    list: 'transactions',
    of: (client: ServiceClient) => client.listBlockTransactions({ chainId: '1', blockId: 5 }),
  },
  { what: 'pages of webhooks', list: 'webhooks', of: (client: ServiceClient) => client.listWebhooks() },
  {
    what: 'pages of addresses',
    list: 'addresses',
    of: (client: ServiceClient) => client.listWebhookAddresses({ id: 'w1' }),
  },
])('follows the $what to the last one, repeating all parameters', async ({ list, of }) => {
  const tokens = ['two', 'three', '']
  const { url, received } = await startServer((_, count) => ({
    body: { [list]: [count], nextPageToken: tokens[count - 1] },
  }))
  const pages = await pagesOf(of(clientOf(url)) as AsyncIterable<Record<string, unknown>>)
  expect(pages.map((page) => page[list])).toEqual([[1], [2], [3]])
  const [first, ...others] = received.map(({ query }) => query)
  expect(others).toEqual([
    { ...first, pageToken: 'two' },
    { ...first, pageToken: 'three' },
  ])
})

test('starts a listing after a given page token', async () => {
  const { url, received } = await startServer(() => ({ body: { webhooks: [] } }))
  await pagesOf(clientOf(url).listWebhooks({ pageToken: 'later' }))
  expect(received.map(({ query }) => query.pageToken)).toEqual(['later'])
})

test('ends a listing that repeats a page token', async () => {
  const { url, received } = await startServer(() => ({ body: { webhooks: [], nextPageToken: 'again' } }))
  const error = await failureOf(pagesOf(clientOf(url).listWebhooks()))
  expect(error).toMatchObject({ code: 'PAGE_MALFORMED', message: 'the service repeated a page token' })
  expect(received).toHaveLength(2)
})

test('ends a listing whose pages are identical and have new page tokens', async () => {
  const { url, received } = await startServer(() => ({
    body: { webhooks: [], nextPageToken: `token ${received.length}` },
  }))
  expect(await failureOf(pagesOf(clientOf(url).listWebhooks()))).toMatchObject({
    code: 'PAGE_MALFORMED',
    message: expect.stringContaining('50 pages contained nothing new'),
  })
})

test('finds webhooks by type, receiver, chain and name on every page', async () => {
  const named = { ...webhook, id: '2', name: 'mine', chainId: 43114 }
  const others = [{ ...webhook, url: 'https://other.example.com' }, { ...webhook, chainId: '1' }, {}]
  const pages = [
    { webhooks: [webhook, ...others], nextPageToken: 'n' },
    { webhooks: [named, { ...webhook, eventType: 'validator_activity' }] },
  ]
  const { url } = await startServer((_, count) => ({ body: pages[(count - 1) % 2] }))
  const client = clientOf(url)
  const match = { eventType: webhook.eventType, url: webhook.url, chainId: '43114' }
  expect(await client.findWebhooks(match)).toEqual([webhook, named])
  expect(await client.findWebhooks({ ...match, name: 'mine' })).toEqual([named])
})

describe('path values', () => {
  test.for(['', '.', '..', '\ud800', 2 ** 53, 1.5, Number.NaN])(
    'reject %o before anything is sent',
    async (value) => {
      const { url, received } = await startServer(() => ({}))
      const error = await failureOf(
        clientOf(url).reindexNft({ chainId: '1', address: wallet, tokenId: value }),
      )
      expect(error).toMatchObject({ code: 'USAGE' })
      expect(received).toEqual([])
    },
  )

  test('keep slashes, question marks and percent signs within their segment', async () => {
    const { url, received } = await startServer(() => ({ body: {} }))
    await clientOf(url).getWebhook({ id: '../a?b=c%2f#d' })
    expect(received[0]).toMatchObject({ path: '/v1/webhooks/..%2Fa%3Fb%3Dc%252f%23d', query: {} })
  })
})
