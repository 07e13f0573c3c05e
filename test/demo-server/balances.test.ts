import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { nodeData } from '../helpers/node-data.ts'
import { sendRequest } from './requests.ts'

const HEAVY = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const NFT_ONLY = '0x33ed23F86F8e72507A26748dC0A450590D7c679B'
const SILENT = '0xFD524703A3B2929DE26b5ae154243d3202106b0e'
const service = createDataService()

const get = async (path: string, chain = '43114') =>
  sendRequest(service, `GET /v1/chains/${chain}/addresses/${path}`)

/** Follows page tokens and returns the entries of all pages. */
async function listAll(path: string, name: string): Promise<Record<string, string>[]> {
  const entries: Record<string, string>[] = []
  let token: string | undefined
  do {
    const { status, body } = await get(`${path}${token === undefined ? '' : `&pageToken=${token}`}`)
    expect(status).toBe(200)
    entries.push(...body[name])
    token = body.nextPageToken
  } while (token !== undefined)
  return entries
}

test('returns the native balance of the node after any block', async () => {
  for (const [wallet, recorded] of Object.entries(nodeData.nativeByBlock))
    for (const block of [0, 1, 17, 105, 233, 420]) {
      const expected = recorded.findLast(([from]) => from <= block)?.[1]
      const { body } = await get(`${wallet}/balances:getNative?blockNumber=${block}`)
      expect(body.nativeTokenBalance).toMatchObject({ symbol: 'AVAX', chainId: '43114', balance: expected })
    }
})

test('returns the balance at the head without a block number', async () => {
  const { body } = await get(`${HEAVY}/balances:getNative`)
  const atHead = await get(`${HEAVY}/balances:getNative?blockNumber=420`)
  expect(body).toEqual(atHead.body)
})

test('lists the ERC-20 balances of the node at its checkpoints', async () => {
  const wallets = Object.keys(nodeData.nativeByBlock)
  for (const block of ['42', '210', '420'])
    for (const wallet of wallets) {
      const path = `${wallet}/balances:listErc20?blockNumber=${block}&pageSize=100`
      const listed = await listAll(path, 'erc20TokenBalances')
      const expected = Object.entries(nodeData.erc20).flatMap(([token, { checkpoints }]) => {
        const balance = checkpoints[block]?.[wallet] ?? '0'
        return balance === '0' ? [] : [[token.toLowerCase(), balance]]
      })
      expect(listed.map(({ address, balance }) => [address, balance])).toEqual(expected.sort())
    }
})

test('lists the NFTs and the ERC-1155 balances of the node', async () => {
  const owned = Object.entries(nodeData.erc721Owners).flatMap(([contract, owners]) =>
    Object.entries(owners).flatMap(([id, owner]) =>
      owner?.toLowerCase() === NFT_ONLY.toLowerCase() ? [`${contract.toLowerCase()} ${id}`] : [],
    ),
  )
  const nfts = await listAll(`${NFT_ONLY}/balances:listErc721?pageSize=3`, 'erc721TokenBalances')
  expect(nfts.map(({ address, tokenId }) => `${address} ${tokenId}`).sort()).toEqual(owned.sort())
  expect(owned.length).toBeGreaterThan(3)
  const held = Object.entries(nodeData.erc1155).flatMap(([contract, wallets]) =>
    Object.entries(wallets[HEAVY] ?? {}).flatMap(([id, balance]) =>
      balance === '0' ? [] : [`${contract.toLowerCase()} ${id} ${balance}`],
    ),
  )
  const listed = await listAll(`${HEAVY}/balances:listErc1155?pageSize=5`, 'erc1155TokenBalances')
  expect(listed.map(({ address, tokenId, balance }) => `${address} ${tokenId} ${balance}`).sort()).toEqual(
    held.sort(),
  )
})

test('limits ERC-20 balances to the given contracts, in any letter case', async () => {
  const all = await listAll(`${HEAVY}/balances:listErc20?pageSize=100`, 'erc20TokenBalances')
  const [first, , third] = all.map(({ address = '' }) => address)
  const contracts = `${third?.toUpperCase().replace('0X', '0x')},${first}`
  const listed = await listAll(
    `${HEAVY}/balances:listErc20?contractAddresses=${contracts}`,
    'erc20TokenBalances',
  )
  expect(listed.map(({ address }) => address)).toEqual([first, third])
})

test('follows the head of a growing chain', async () => {
  const growing = createDataService({ replay: { from: 10 } })
  const balance = async (block: number) =>
    sendRequest(growing, `GET /v1/chains/43114/addresses/${HEAVY}/balances:getNative?blockNumber=${block}`)
  expect((await balance(11)).body.message).toBe('blockNumber must not be after the head 10, but is 11.')
  await growing.advance()
  expect((await balance(11)).status).toBe(200)
})

test.for([
  { path: `${HEAVY}/balances:getNative`, chain: '1', status: 404 },
  { path: '0xD136BcEe353d0F6Faa20AbF909A612884CeE5bF1/balances:getNative', chain: '43114', status: 404 },
  { path: `${HEAVY}/balances:getNative?blockNumber=421`, chain: '43114', status: 400 },
  { path: `${HEAVY}/balances:listErc20?blockNumber=x`, chain: '43114', status: 400 },
  { path: `${HEAVY}/balances:listErc20?contractAddresses=0x1`, chain: '43114', status: 400 },
  { path: `${HEAVY}/balances:listErc1155?pageToken=abc`, chain: '43114', status: 400 },
])('responds to $path on chain $chain with $status', async ({ path, chain, status }) => {
  expect((await get(path, chain)).status).toBe(status)
})

test('an address without transactions has no balances', async () => {
  const unknown = `0x${'ab'.repeat(20)}`
  expect((await get(`${unknown}/balances:getNative`)).body.nativeTokenBalance.balance).toBe('0')
  expect((await get(`${SILENT}/balances:listErc20`)).body).toEqual({ erc20TokenBalances: [] })
})
