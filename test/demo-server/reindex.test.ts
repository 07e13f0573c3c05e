import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { fetchAll, type Item, sendRequest, walletPath } from './requests.ts'

const HOLDER = '0x33ed23F86F8e72507A26748dC0A450590D7c679B'
const APES = '0xD136BcEe353d0F6Faa20AbF909A612884CeE5bF1'
const GAMES = '0xA6eD9251a54b25F4F284f00FE60d99f3D42FE3F5'
const MINTER = '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'
const START = 1_800_000_000_000
const HOUR = 3_600_000

const reindex = (address: string, tokenId: string, chain = '43114') =>
  `POST /v1/chains/${chain}/nfts/collections/${address}/tokens/${tokenId}:reindex`

type Metadata = { indexStatus: string; metadataLastUpdatedTimestamp?: number; [field: string]: unknown }
type Token = { address: string; tokenId: string; metadata: Metadata }

/** Metadata of token 1 of a contract in each transfer of a wallet's listing, in chain order. */
async function metadataIn(service: DataService, wallet: string, contract: string): Promise<Metadata[]> {
  const items = await fetchAll(service, walletPath(wallet, 'pageSize=100'))
  const tokens = items.flatMap(tokensOf)
  return tokens
    .filter(({ address, tokenId }) => address === contract && tokenId === '1')
    .map(({ metadata }) => metadata)
}

function tokensOf(item: Item): Token[] {
  const of = (list: string, token: string) =>
    ((item[list] ?? []) as Record<string, Token>[]).map((transfer) => transfer[token] as Token)
  return [...of('erc721Transfers', 'erc721Token'), ...of('erc1155Transfers', 'erc1155Token')]
}

test('returns the new metadata of a token in every later listing', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms })
  const before = await metadataIn(service, HOLDER, APES)
  expect(before).toEqual([{ indexStatus: 'INVALID_METADATA' }, { indexStatus: 'INVALID_METADATA' }])
  const response = await sendRequest(service, reindex(APES, '1'))
  expect([response.status, response.body]).toEqual([201, ''])
  const [after, again] = await metadataIn(service, HOLDER, APES)
  expect(again).toEqual(after)
  expect(after).toMatchObject({
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: START / 1000,
    name: 'Lab Apes #1',
    symbol: 'APE',
  })
  expect(Object.values(after ?? {}).every((value) => value !== null && value !== undefined)).toBe(true)
  clock.ms += HOUR
  await sendRequest(service, reindex(APES, '1'))
  const [later] = await metadataIn(service, HOLDER, APES)
  expect(later).toEqual({ ...after, metadataLastUpdatedTimestamp: (START + HOUR) / 1000 })
})

test('generates the same metadata for a token in every service', async () => {
  const reindexedMetadata = async () => {
    const service = createDataService({ clock: () => START })
    await sendRequest(service, reindex(APES, '1'))
    return metadataIn(service, HOLDER, APES)
  }
  expect(await reindexedMetadata()).toEqual(await reindexedMetadata())
})

test('keeps indexed contents and updates their time', async () => {
  const service = createDataService({ clock: () => START })
  const before = await metadataIn(service, MINTER, GAMES)
  const indexed = before.filter(({ indexStatus }) => indexStatus === 'INDEXED').at(-1)
  expect(indexed).toBeDefined()
  await sendRequest(service, reindex(GAMES, '1'))
  const after = await metadataIn(service, MINTER, GAMES)
  expect(after).toHaveLength(before.length)
  expect(after).toContainEqual({ ...indexed, metadataLastUpdatedTimestamp: START / 1000 })
})

test('changes only the reindexed token', async () => {
  const service = createDataService({ clock: () => START })
  const others = async () =>
    (await fetchAll(service, walletPath(MINTER, 'pageSize=100'))).map((item) => ({
      ...item,
      erc1155Transfers: tokensOf(item).filter(({ address, tokenId }) => address !== GAMES || tokenId !== '1'),
    }))
  const before = await others()
  await sendRequest(service, reindex(GAMES, '1'))
  expect(await others()).toEqual(before)
})

test('rejects a second reindex within the hour, with retry-after', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms, keys: ['a', 'b'] })
  const reindexAs = (key: string, address = APES) => sendRequest(service, reindex(address, '1'), { key })
  expect((await reindexAs('a')).status).toBe(201)
  clock.ms += 1_500
  const refused = await reindexAs('b', APES.toLowerCase())
  expect(refused.status).toBe(429)
  expect(refused.headers['retry-after']).toBe('3599')
  expect(refused.body).toEqual({
    message: 'This token was reindexed within the last hour: retry in 3599 s.',
    statusCode: 429,
    error: 'Too Many Requests',
  })
  expect((await sendRequest(service, reindex(APES, '10'), { key: 'a' })).status).toBe(201)
  clock.ms = START + HOUR - 1
  expect((await reindexAs('a')).headers['retry-after']).toBe('1')
  clock.ms = START + HOUR
  expect((await reindexAs('a')).status).toBe(201)
})

test('limits retry-after to one hour when the clock runs backwards', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms })
  await sendRequest(service, reindex(APES, '1'))
  clock.ms -= 10 * HOUR
  expect((await sendRequest(service, reindex(APES, '1'))).headers['retry-after']).toBe('3600')
})

test('returns the new metadata in the single transaction too', async () => {
  const service = createDataService({ clock: () => START })
  const [item] = await fetchAll(service, walletPath(HOLDER, 'pageSize=1&endBlock=100'))
  const path = `GET /v1/chains/43114/transactions/${item?.nativeTransaction.txHash}`
  const [token] = tokensOf(item as Item)
  await sendRequest(service, reindex(token?.address ?? '', token?.tokenId ?? ''))
  const [shown] = tokensOf((await sendRequest(service, path)).body)
  expect(shown?.metadata).toMatchObject({
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: START / 1000,
  })
})

test.for([
  { address: APES, tokenId: '99999', chain: '43114', status: 404, message: 'has no token 99999' },
  { address: HOLDER, tokenId: '1', chain: '43114', status: 404, message: `contract ${HOLDER}` },
  { address: APES, tokenId: '1', chain: '7', status: 404, message: 'expected one of' },
  { address: '0x12', tokenId: '1', chain: '43114', status: 400, message: 'address must be' },
  { address: APES, tokenId: '0x1', chain: '43114', status: 400, message: 'tokenId must be' },
  { address: APES, tokenId: '-1', chain: '43114', status: 400, message: 'tokenId must be' },
  { address: APES, tokenId: String(2n ** 256n), chain: '43114', status: 400, message: 'tokenId must be' },
  { address: APES, tokenId: '', chain: '43114', status: 404, message: 'is not served here' },
])('rejects token "$tokenId" of $address on $chain with $status', async ({ status, message, ...token }) => {
  const response = await sendRequest(createDataService(), reindex(token.address, token.tokenId, token.chain))
  expect(response.status).toBe(status)
  expect(response.body.message).toContain(message)
})

test('accepts the largest token id, and one with leading zeros', async () => {
  const tokenId = '340282366920938463463374607431768211456'
  const service = createDataService()
  const contract = '0x5441E363835432BB4834CB3012606BbD407C0335'
  expect((await sendRequest(service, reindex(contract, `00${tokenId}`))).status).toBe(201)
  expect((await sendRequest(service, reindex(contract, tokenId))).status).toBe(429)
  expect((await sendRequest(service, reindex(APES, String(2n ** 256n - 1n)))).status).toBe(201)
  expect((await sendRequest(service, reindex(APES, String(2n ** 256n - 2n)))).status).toBe(404)
})

test('rejects a token before its first transfer', async () => {
  expect((await sendRequest(createDataService({ head: 0 }), reindex(APES, '1'))).status).toBe(404)
})
