import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { askAll, type Item, tell, walletPath } from './ask.ts'

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

/** Metadata of a contract's token 1 in each transfer of a wallet's whole listing, in chain order. */
async function metadataIn(service: DataService, wallet: string, contract: string): Promise<Metadata[]> {
  const items = await askAll(service, walletPath(wallet, 'pageSize=100'))
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

test('gives a token new metadata in every later listing', async () => {
  const service = createDataService({ clock: () => START })
  const before = await metadataIn(service, HOLDER, APES)
  expect(before).toEqual([{ indexStatus: 'INVALID_METADATA' }, { indexStatus: 'INVALID_METADATA' }])
  const answer = await tell(service, reindex(APES, '1'))
  expect([answer.status, answer.body]).toEqual([201, ''])
  const [after, again] = await metadataIn(service, HOLDER, APES)
  expect(again).toEqual(after)
  expect(after).toMatchObject({
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: START / 1000,
    name: 'Lab Apes #1',
    symbol: 'APE',
  })
  expect(Object.values(after ?? {}).every((value) => value !== null && value !== undefined)).toBe(true)
})

test('makes the same metadata of a token in every service', async () => {
  const make = async () => {
    const service = createDataService({ clock: () => START })
    await tell(service, reindex(APES, '1'))
    return metadataIn(service, HOLDER, APES)
  }
  expect(await make()).toEqual(await make())
})

test('keeps indexed contents and renews their time', async () => {
  const service = createDataService({ clock: () => START })
  const before = await metadataIn(service, MINTER, GAMES)
  const indexed = before.filter(({ indexStatus }) => indexStatus === 'INDEXED').at(-1)
  expect(indexed).toBeDefined()
  await tell(service, reindex(GAMES, '1'))
  const after = await metadataIn(service, MINTER, GAMES)
  expect(after).toHaveLength(before.length)
  expect(after).toContainEqual({ ...indexed, metadataLastUpdatedTimestamp: START / 1000 })
})

test('changes nothing but the one token', async () => {
  const service = createDataService({ clock: () => START })
  const others = async () =>
    (await askAll(service, walletPath(MINTER, 'pageSize=100'))).map((item) => ({
      ...item,
      erc1155Transfers: tokensOf(item).filter(({ address, tokenId }) => address !== GAMES || tokenId !== '1'),
    }))
  const before = await others()
  await tell(service, reindex(GAMES, '1'))
  expect(await others()).toEqual(before)
})

test('refuses a token again within the hour and says until when', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms, keys: ['a', 'b'] })
  const ask = (key: string, address = APES) => tell(service, reindex(address, '1'), { key })
  expect((await ask('a')).status).toBe(201)
  clock.ms += 1_500
  const refused = await ask('b', APES.toLowerCase())
  expect(refused.status).toBe(429)
  expect(refused.headers['retry-after']).toBe('3599')
  expect(refused.body).toEqual({
    message: 'This token was reindexed within the last hour: ask again in 3599 s.',
    statusCode: 429,
    error: 'Too Many Requests',
  })
  expect((await tell(service, reindex(APES, '10'), { key: 'a' })).status).toBe(201)
  clock.ms = START + HOUR - 1
  expect((await ask('a')).headers['retry-after']).toBe('1')
  clock.ms = START + HOUR
  expect((await ask('a')).status).toBe(201)
})

test('asks for an hour at most when the clock ran backwards', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms })
  await tell(service, reindex(APES, '1'))
  clock.ms -= 10 * HOUR
  expect((await tell(service, reindex(APES, '1'))).headers['retry-after']).toBe('3600')
})

test('shows the old metadata until the reading is over', async () => {
  const clock = { ms: START }
  const service = createDataService({ clock: () => clock.ms, reindexDelayMs: 5_000 })
  const times = async () =>
    new Set((await metadataIn(service, HOLDER, APES)).map((m) => m.metadataLastUpdatedTimestamp))
  await tell(service, reindex(APES, '1'))
  clock.ms = START + 4_999
  expect(await times()).toEqual(new Set([undefined]))
  clock.ms = START + 5_000
  expect(await times()).toEqual(new Set([START / 1000 + 5]))
  clock.ms = START + HOUR
  await tell(service, reindex(APES, '1'))
  expect(await times()).toEqual(new Set([START / 1000 + 5]))
  clock.ms += 5_000
  expect(await times()).toEqual(new Set([(START + HOUR) / 1000 + 5]))
})

test('shows the new metadata in the transaction itself too', async () => {
  const service = createDataService({ clock: () => START })
  const [item] = await askAll(service, walletPath(HOLDER, 'pageSize=1&endBlock=100'))
  const path = `GET /v1/chains/43114/transactions/${item?.nativeTransaction.txHash}`
  const [token] = tokensOf(item as Item)
  await tell(service, reindex(token?.address ?? '', token?.tokenId ?? ''))
  const [shown] = tokensOf((await tell(service, path)).body)
  expect(shown?.metadata).toMatchObject({
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: START / 1000,
  })
})

test.for([
  { address: APES, tokenId: '99999', chain: '43114', status: 404, says: 'has no token 99999' },
  { address: HOLDER, tokenId: '1', chain: '43114', status: 404, says: `contract ${HOLDER}` },
  { address: APES, tokenId: '1', chain: '7', status: 404, says: 'expected one of' },
  { address: '0x12', tokenId: '1', chain: '43114', status: 400, says: 'address must be' },
  { address: APES, tokenId: '0x1', chain: '43114', status: 400, says: 'tokenId must be' },
  { address: APES, tokenId: '-1', chain: '43114', status: 400, says: 'tokenId must be' },
  { address: APES, tokenId: String(2n ** 256n), chain: '43114', status: 400, says: 'tokenId must be' },
  { address: APES, tokenId: '', chain: '43114', status: 404, says: 'is not served here' },
])('refuses token "$tokenId" of $address on $chain with $status', async ({ status, says, ...token }) => {
  const answer = await tell(createDataService(), reindex(token.address, token.tokenId, token.chain))
  expect(answer.status).toBe(status)
  expect(answer.body.message).toContain(says)
})

test('knows the largest token id, and one with zeros before it', async () => {
  const tokenId = '340282366920938463463374607431768211456'
  const service = createDataService()
  const contract = '0x5441E363835432BB4834CB3012606BbD407C0335'
  expect((await tell(service, reindex(contract, `00${tokenId}`))).status).toBe(201)
  expect((await tell(service, reindex(contract, tokenId))).status).toBe(429)
  expect((await tell(service, reindex(APES, String(2n ** 256n - 1n)))).status).toBe(201)
  expect((await tell(service, reindex(APES, String(2n ** 256n - 2n)))).status).toBe(404)
})

test('knows no token before its first transfer', async () => {
  expect((await tell(createDataService({ head: 0 }), reindex(APES, '1'))).status).toBe(404)
})
