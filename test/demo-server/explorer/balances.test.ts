import { expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { sendRequest } from '../requests.ts'
import { BUSIEST, EXPLORERS, openExplorer } from './requests.ts'

const askDataService = async (address: string, operation: string) =>
  (await sendRequest(createDataService(), `GET /v1/chains/43114/addresses/${address}/balances:${operation}`))
    .body

test.for(EXPLORERS)('%s states the balances of the data service', async (api) => {
  const ask = openExplorer(api)
  for (const address of [BUSIEST, ...demoWallets.slice(0, 3)]) {
    const { nativeTokenBalance } = await askDataService(address, 'getNative')
    expect((await ask({ action: 'balance', address })).body.result).toBe(nativeTokenBalance.balance)
    const { erc20TokenBalances } = await askDataService(address, 'listErc20?pageSize=100')
    for (const { address: contractaddress, balance } of erc20TokenBalances.slice(0, 5))
      expect((await ask({ action: 'tokenbalance', address, contractaddress })).body.result).toBe(balance)
  }
})

test.for(EXPLORERS)('%s counts the NFTs of a collection, and none of an unknown token', async (api) => {
  const ask = openExplorer(api)
  const { erc721TokenBalances } = await askDataService(BUSIEST, 'listErc721?pageSize=100')
  const contractaddress = erc721TokenBalances[0].address
  const owned = erc721TokenBalances.filter(({ address }: { address: string }) => address === contractaddress)
  expect((await ask({ action: 'tokenbalance', address: BUSIEST, contractaddress })).body.result).toBe(
    String(owned.length),
  )
  expect(
    (await ask({ action: 'tokenbalance', address: BUSIEST, contractaddress: BUSIEST })).body.result,
  ).toBe('0')
})

test('balancemulti answers 20 addresses; Blockscout adds whether a balance is stale', async () => {
  const parameters = { action: 'balancemulti', address: demoWallets.slice(0, 21).join(',') }
  const etherscan = (await openExplorer('etherscan')(parameters)).body.result
  const blockscout = (await openExplorer('blockscout')(parameters)).body.result
  expect(etherscan).toHaveLength(20)
  expect(Object.keys(etherscan[0])).toEqual(['account', 'balance'])
  expect(blockscout[0]).toEqual({ ...etherscan[0], stale: false })
})

test('Blockscout states the balance after a block, as a node does', async () => {
  const ask = openExplorer('blockscout')
  const { nativeTokenBalance } = await askDataService(BUSIEST, 'getNative?blockNumber=100')
  const { body } = await ask({ action: 'eth_get_balance', address: BUSIEST, block: 100 })
  expect(BigInt(body.result)).toBe(BigInt(nativeTokenBalance.balance))
})

test.for([
  {
    chainid: 43114,
    why: 'of an address with transactions',
    address: '0x0000000000000000000000000000000000000000',
  },
  { chainid: 1, why: 'of a chain without recorded balances', address: BUSIEST },
])('a balance that is not recorded ($why) is refused, not zero', async ({ chainid, address }) => {
  for (const api of EXPLORERS) {
    const { body } = await openExplorer(api)({ chainid, action: 'balance', address })
    expect(JSON.stringify(body)).toContain('not recorded')
    expect(body.status).toBe('0')
  }
})

test('the head is the last block that is served', async () => {
  const ask = openExplorer('etherscan', { head: 16 })
  expect((await ask({ module: 'proxy', action: 'eth_blockNumber' })).body).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: '0x10',
  })
})
