import { Avalanche, validateSignature } from '@avalanche-sdk/chainkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { withOutage } from '../helpers/outage.ts'
import { startReceiver } from './receiver.ts'

// The official client of the public service that this server emulates. It validates every field of every response.

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const NFTS_ONLY = '0x33ed23F86F8e72507A26748dC0A450590D7c679B'
const APES = '0xD136BcEe353d0F6Faa20AbF909A612884CeE5bF1'

/**
 * A client and a service on loopback. `at` must be passed to each call; otherwise the client uses the public service.
 */
async function connect(options: DataServiceOptions = {}) {
  const service = createDataService(options)
  const { url, close } = await listen(service)
  onTestFinished(close)
  const client = new Avalanche({
    enableTelemetry: false,
    chainId: '43114',
    retryConfig: { strategy: 'none' },
  })
  return { service, client, at: { serverURL: url } }
}

async function collect<Page>(
  pages: AsyncIterable<{ result: Page }> | Promise<AsyncIterable<{ result: Page }>>,
) {
  const all: Page[] = []
  for await (const { result } of await pages) all.push(result)
  return all
}

/** Reads all pages of a block, because the client does not follow page tokens of blocks itself. */
async function readBlock(
  { client, at }: Awaited<ReturnType<typeof connect>>,
  blockId: string,
  chainId: string,
) {
  const all = []
  let pageToken: string | undefined
  do {
    const request = { blockId, chainId, ...(pageToken === undefined ? {} : { pageToken }) }
    const page = await client.data.evm.blocks.listTransactions(request, at)
    all.push(...page.transactions)
    pageToken = page.nextPageToken
  } while (pageToken)
  return all
}

const webhookOf = (url: string) => ({
  eventType: 'address_activity' as const,
  url,
  chainId: '43114',
  metadata: { addresses: [BUSIEST] },
})

test('the official client sends requests only to this server', async () => {
  const { client, at } = await connect()
  const fetched = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => fetched.mockRestore())
  await client.data.evm.chains.get({}, at)
  const urls = fetched.mock.calls.map(([request]) =>
    request instanceof Request ? request.url : String(request),
  )
  expect(urls).toEqual([`${at.serverURL}/v1/chains/43114`])
})

test('the official client reads the chains', async () => {
  const { client, at } = await connect()
  const { chains } = await client.data.evm.chains.list({}, at)
  expect(chains.map(({ chainId }) => chainId)).toEqual(['43114', '1', '42161'])
  const mainnet = await client.data.evm.chains.list({ network: 'mainnet', feature: 'webhooks' }, at)
  expect(mainnet.chains.map(({ chainId }) => chainId)).toEqual(['1'])
  expect(await client.data.evm.chains.get({}, at)).toEqual(chains[0])
})

test('the official client reads the whole history of every demo wallet', { tags: ['long'] }, async () => {
  const { client, at } = await connect()
  const { transactions } = client.data.evm.address
  const read = async (address: string) =>
    (await collect(transactions.list({ address, pageSize: 100, sortOrder: 'asc' }, at))).flatMap(
      (page) => page.transactions,
    )
  expect(await read(BUSIEST)).toHaveLength(2042)
  for (const address of demoWallets.filter((wallet) => wallet !== BUSIEST)) await read(address)
})

test('the official client reads a dense block and the blocks of mainnet', async () => {
  const connected = await connect()
  expect(await readBlock(connected, '237', '43114')).toHaveLength(260)
  const mainnet = [
    ...(await readBlock(connected, '17173049', '1')),
    ...(await readBlock(connected, '17173050', '1')),
  ]
  expect(mainnet).toHaveLength(298)
})

test('the official client reads single transactions of both chains', async () => {
  const connected = await connect()
  const { client, at } = connected
  for (const [blockId, chainId] of [
    ['60', '43114'],
    ['237', '43114'],
    ['17173049', '1'],
  ] as const) {
    for (const { txHash } of (await readBlock(connected, blockId, chainId)).slice(0, 40)) {
      const shown = await client.data.evm.transactions.get({ txHash, chainId }, at)
      expect(shown.nativeTransaction.txHash).toBe(txHash)
      expect(shown.networkTokenDetails.networkToken.decimals).toBe(18)
    }
  }
})

test('the official client reindexes a token and reads its new metadata', async () => {
  const { client, at } = await connect()
  const token = { address: APES, tokenId: '1' }
  await client.data.nfts.reindex(token, at)
  await expect(client.data.nfts.reindex(token, at)).rejects.toMatchObject({
    name: 'TooManyRequestsError',
    data$: { statusCode: 429 },
  })
  const pages = await collect(
    client.data.evm.address.transactions.list({ address: NFTS_ONLY, pageSize: 100 }, at),
  )
  const found = pages
    .flatMap((page) => page.transactions)
    .flatMap(({ erc721Transfers = [] }) => erc721Transfers)
    .filter(({ erc721Token }) => erc721Token.address === APES && erc721Token.tokenId === '1')
  expect(found.map(({ erc721Token }) => erc721Token.metadata?.indexStatus)).toContain('INDEXED')
})

test('the official client creates, reads, changes and deactivates webhooks', async () => {
  const { client, at } = await connect()
  const created = await client.webhooks.create({ ...webhookOf('https://r.example/'), includeLogs: true }, at)
  const { id } = created
  expect(await client.webhooks.get({ id }, at)).toEqual(created)
  const change = { name: 'renamed', status: 'inactive' as const }
  const changed = await client.webhooks.update({ id, updateWebhookRequest: change }, at)
  expect(changed).toEqual({ ...created, ...change })
  const deactivated = await client.webhooks.deactivate({ id }, at)
  expect(deactivated.status).toBe('inactive')
  const pages = await collect(client.webhooks.list({ status: 'inactive', pageSize: 1 }, at))
  expect(pages.flatMap((page) => page.webhooks)).toEqual([deactivated])
})

test('the official client adds, lists and removes addresses', async () => {
  const { client, at } = await connect()
  const { id } = await client.webhooks.create(webhookOf('https://r.example/'), at)
  const addressesChangeRequest = { addresses: demoWallets.slice(0, 3) }
  const added = await client.webhooks.addresses.add({ id, addressesChangeRequest }, at)
  expect(added.metadata.addresses).toEqual([BUSIEST, ...addressesChangeRequest.addresses])
  const pages = await collect(client.webhooks.addresses.list({ id, pageSize: 3 }, at))
  expect(pages.map(({ addresses, totalAddresses }) => [addresses.length, totalAddresses])).toEqual([
    [3, 4],
    [1, 4],
  ])
  const removed = await client.webhooks.addresses.remove({ id, addressesChangeRequest }, at)
  expect(removed.metadata.addresses).toEqual([BUSIEST])
})

test('the official client verifies signatures over canonical JSON', async () => {
  const { service, client, at } = await connect({ replay: { from: 200 } })
  const { url, received } = await startReceiver()
  const { secret } = await client.webhooks.generateOrRotateSharedSecret(at)
  expect(await client.webhooks.getSharedSecret(at)).toEqual({ secret })
  await client.webhooks.create({ ...webhookOf(url), includeLogs: true, includeInternalTxs: true }, at)
  await service.advance(10)
  await service.idle()
  const silence = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => silence.mockRestore())
  expect(received.length).toBeGreaterThan(20)
  for (const { headers, body } of received) {
    expect(validateSignature(secret, headers['x-signature'], body)).toBe(true)
    expect(validateSignature(secret, headers['x-signature'], { ...body, messageId: 'x' })).toBe(false)
  }
})

test('the official client verifies signatures over the raw body', async () => {
  const { service, client, at } = await connect({ replay: { from: 200 }, signature: 'raw' })
  const { url, received } = await startReceiver()
  const { secret } = await client.webhooks.generateOrRotateSharedSecret(at)
  const { id } = await client.webhooks.create({ ...webhookOf(url), includeInternalTxs: true }, at)
  await service.advance(10)
  await service.idle()
  expect(received.length).toBeGreaterThan(20)
  for (const { headers, text } of received) {
    const request = { body: text, url, method: 'POST', headers: headers as Record<string, string> }
    expect(await client.validateWebhook({ request, secret })).toMatchObject({ webhookId: id })
    await expect(client.validateWebhook({ request, secret: `${secret}0` })).rejects.toThrow(
      'Invalid signature',
    )
  }
})

test('the official client accepts logs with all topics, but none with a null topic', async () => {
  const { service, client, at } = await connect({ replay: { from: 0 }, signature: 'raw' })
  const { url, received } = await startReceiver()
  const { secret } = await client.webhooks.generateOrRotateSharedSecret(at)
  const metadata = { addresses: [NFTS_ONLY] }
  await client.webhooks.create({ ...webhookOf(url), metadata, includeLogs: true }, at)
  await service.advance(60)
  await service.idle()
  const logged = received.filter(({ body }) => body.event.logs.length > 0)
  expect(logged.length).toBeGreaterThan(0)
  for (const { headers, text, body } of logged) {
    const request = { body: text, url, method: 'POST', headers: headers as Record<string, string> }
    const topics = body.event.logs.map((log: { topic3: string | null }) => log.topic3)
    const reading = client.validateWebhook({ request, secret })
    if (topics.includes(null)) await expect(reading).rejects.toThrow()
    else expect((await reading).event.logs).toHaveLength(topics.length)
  }
})

test.for([
  { name: 'BadRequestError', request: { blockId: 'x' }, apiKey: 'k' },
  { name: 'NotFoundError', request: { blockId: '99999' }, apiKey: 'k' },
  { name: 'UnauthorizedError', request: { blockId: '1' }, apiKey: undefined },
  { name: 'ForbiddenError', request: { blockId: '1' }, apiKey: 'wrong' },
  {
    name: 'TooManyRequestsError',
    request: { blockId: '1' },
    apiKey: 'k',
    quota: { perSecond: 1e-9, burst: 1 },
  },
  { name: 'InternalServerError', request: { blockId: '1' }, apiKey: 'k', outage: 500 },
  { name: 'BadGatewayError', request: { blockId: '1' }, apiKey: 'k', outage: 502 },
  { name: 'ServiceUnavailableError', request: { blockId: '1' }, apiKey: 'k', outage: 503 },
] as const)(
  'the official client maps an error response to $name',
  async ({ name, request, apiKey, ...options }) => {
    const service = createDataService({
      keys: ['k'],
      keyHeader: 'x-glacier-api-key',
      quota: 'quota' in options ? options.quota : undefined,
    })
    const { url, close } = await listen(
      withOutage(service, () => ('outage' in options ? options.outage : undefined)),
    )
    onTestFinished(close)
    const client = new Avalanche({
      enableTelemetry: false,
      chainId: '43114',
      retryConfig: { strategy: 'none' },
      ...(apiKey === undefined ? {} : { apiKey }),
    })
    const read = () => client.data.evm.blocks.listTransactions(request, { serverURL: url })
    if (name === 'TooManyRequestsError') await read()
    await expect(read()).rejects.toMatchObject({ name })
  },
)

test('the official client reads several errors of a webhook', async () => {
  const { client, at } = await connect()
  const bad = { ...webhookOf('nowhere'), metadata: { addresses: ['x'] } }
  await expect(client.webhooks.create(bad, at)).rejects.toMatchObject({
    name: 'BadRequestError',
    data$: {
      message: ['url must be an http or https URL.', 'metadata.addresses[0] must be 0x and 40 hex digits.'],
    },
  })
})
