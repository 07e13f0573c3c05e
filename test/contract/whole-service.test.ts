import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { createServiceClient, type ServiceClientOptions } from '../../src/index.ts'
import { failureOf, pagesOf } from '../http/server.ts'

const WALLET = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const OTHER = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
const RECEIVER = 'http://127.0.0.1:9/hook'

/** A typed client of an embedded server on a real socket; both are closed after the test. */
async function serve(options: DataServiceOptions = {}, client: Partial<ServiceClientOptions> = {}) {
  const service = createDataService({ keys: ['k3y'], ...options })
  const listening = await listen(service)
  const typed = createServiceClient({ baseUrl: listening.url, apiKey: 'k3y', ...client })
  onTestFinished(async () => {
    await typed.close()
    await listening.close()
    service.close()
  })
  return typed
}

test('lists the chains and gets one by its id', async () => {
  const client = await serve()
  const chains = await client.listChains()
  expect(chains.map(({ chainId }) => chainId)).toContain('43114')
  expect(await client.getChain({ chainId: 43114 })).toEqual(chains.find(({ chainId }) => chainId === '43114'))
})

test('gets a transaction with at least the data of a wallet view', async () => {
  const client = await serve()
  const { transactions } = await client.walletTransactionsPage({
    chainId: 43114,
    address: WALLET,
    pageSize: 5,
  })
  for (const seen of transactions) {
    const txHash = seen.nativeTransaction?.txHash ?? ''
    const whole = await client.getTransaction({ chainId: 43114, txHash })
    expect(whole.nativeTransaction).toMatchObject({ ...seen.nativeTransaction })
    expect(whole.erc20Transfers).toEqual(expect.arrayContaining(seen.erc20Transfers ?? []))
  }
})

test('creates, finds, changes and deletes a webhook', async () => {
  const client = await serve()
  const spec = { eventType: 'address_activity', url: RECEIVER, chainId: '43114', name: 'mine' }
  const made = await client.createWebhook({ ...spec, metadata: { addresses: [WALLET] }, includeLogs: true })
  const id = made.id ?? ''
  expect(made).toMatchObject({ ...spec, status: 'active', includeLogs: true })
  expect(await client.getWebhook({ id })).toEqual(made)
  expect(await client.findWebhooks(spec)).toEqual([made])
  await client.addWebhookAddresses({ id, addresses: [OTHER] })
  const watched = async () =>
    (await pagesOf(client.listWebhookAddresses({ id, pageSize: 1 }))).flatMap(({ addresses }) => addresses)
  expect((await watched()).map((address) => address.toLowerCase()).sort()).toEqual(
    [WALLET, OTHER].map((address) => address.toLowerCase()).sort(),
  )
  await client.removeWebhookAddresses({ id, addresses: [WALLET] })
  expect((await watched()).map((address) => address.toLowerCase())).toEqual([OTHER.toLowerCase()])
  expect(await client.updateWebhook({ id, name: 'ours' })).toMatchObject({ id, name: 'ours' })
  expect(await client.deleteWebhook({ id })).toMatchObject({ id, status: 'inactive' })
  expect(await pagesOf(client.listWebhooks({ status: 'active' }))).toEqual([{ webhooks: [] }])
})

test('creates and rotates a shared secret', async () => {
  const client = await serve()
  const first = await client.rotateSharedSecret()
  expect(await client.getSharedSecret()).toBe(first)
  expect(await client.rotateSharedSecret()).not.toBe(first)
})

test('reindexes a token once an hour without delaying other requests', async () => {
  const client = await serve({ quota: { perSecond: 1_000, burst: 1_000 } })
  const nft = await someNft(client)
  await client.reindexNft(nft)
  expect(await failureOf(client.reindexNft(nft))).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
  expect(await client.listChains()).not.toEqual([])
})

async function someNft(client: ReturnType<typeof createServiceClient>) {
  const chainId = '43114'
  const address = '0x33ed23F86F8e72507A26748dC0A450590D7c679B'
  for await (const { transactions } of client.listWalletTransactions({ chainId, address })) {
    const token = transactions.flatMap((item) => item.erc721Transfers ?? [])[0]?.erc721Token
    if (token) return { chainId, address: token.address ?? '', tokenId: token.tokenId ?? '' }
  }
  return expect.fail('the wallet holds no NFT')
}

test.for([
  { key: undefined, status: 401 },
  { key: 'wrong', status: 403 },
])('rejects every operation with $status for the key $key', async ({ key, status }) => {
  const client = await serve({}, { apiKey: key })
  const { close: _, ...operations } = client
  const id = 'w1'
  const calls = [
    client.listChains(),
    client.getChain({ chainId: '1' }),
    client.getTransaction({ chainId: '1', txHash: `0x${'a'.repeat(64)}` }),
    client.walletTransactionsPage({ chainId: '1', address: WALLET }),
    client.blockTransactionsPage({ chainId: '1', blockId: 1 }),
    client.getNativeBalance({ chainId: '1', address: WALLET }),
    client.listErc20Balances({ chainId: '1', address: WALLET }).next(),
    client.listErc721Balances({ chainId: '1', address: WALLET }).next(),
    client.listErc1155Balances({ chainId: '1', address: WALLET }).next(),
    client.reindexNft({ chainId: '1', address: WALLET, tokenId: 1 }),
    client.createWebhook({
      eventType: 'address_activity',
      url: RECEIVER,
      chainId: '1',
      metadata: { addresses: [] },
    }),
    client.getWebhook({ id }),
    client.webhooksPage(),
    client.updateWebhook({ id, name: 'n' }),
    client.deleteWebhook({ id }),
    client.addWebhookAddresses({ id, addresses: [] }),
    client.removeWebhookAddresses({ id, addresses: [] }),
    client.webhookAddressesPage({ id }),
    client.getSharedSecret(),
    client.rotateSharedSecret(),
  ]
  const errors = await Promise.all(calls.map(failureOf))
  // Listings send requests through their page methods, and findWebhooks through listWebhooks.
  expect(errors).toHaveLength(Object.keys(operations).length - 5)
  for (const error of errors) expect(error).toMatchObject({ code: 'KEY_REFUSED', status })
})
