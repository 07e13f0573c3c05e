import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDataService } from '../../../src/demo-server/create-data-service.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { fetchAll, type Item, walletPath } from '../requests.ts'
import { BUSIEST, EXPLORERS, LISTINGS, openExplorer, recordsOf } from './requests.ts'

type Movement = { from: Party; to: Party; value: string; [field: string]: unknown }
type Party = { address: string }
const WALLETS = [...demoWallets.slice(0, 12), BUSIEST, '0x48A0B31dD707cFb02cbC8706fE88C676630A796b']
const LISTS = {
  txlistinternal: 'internalTransactions',
  tokentx: 'erc20Transfers',
  tokennfttx: 'erc721Transfers',
  token1155tx: 'erc1155Transfers',
} as const

const ITEMS = new Map<string, Promise<Item[]>>()
function itemsOf(wallet: string): Promise<Item[]> {
  const items = ITEMS.get(wallet) ?? fetchAll<Item>(createDataService(), walletPath(wallet, 'pageSize=100'))
  ITEMS.set(wallet, items)
  return items
}

/** The movements that the data service shows of a wallet, as `hash from to value` in chain order. */
async function movementsOf(wallet: string, name: (typeof LISTINGS)[number]): Promise<string[]> {
  return (await itemsOf(wallet)).flatMap((item) => {
    const native = item.nativeTransaction as unknown as Movement & { txHash: string }
    const all = name === 'txlist' ? [native] : ((item[LISTS[name]] ?? []) as Movement[])
    return all.filter((entry) => isParty(entry, wallet)).map((entry) => lineOf(native.txHash, entry))
  })
}

const isParty = ({ from, to }: Movement, wallet: string) =>
  [from.address, to.address].some((address) => address.toLowerCase() === wallet.toLowerCase())

function lineOf(hash: string, { from, to, value, erc721Token }: Movement): string {
  const moved = erc721Token ? (erc721Token as { tokenId: string }).tokenId : value
  return [hash, from.address, to.address, moved].join(' ').toLowerCase()
}

describe.for(EXPLORERS)('%s', (api) => {
  const ask = openExplorer(api)

  test.for(LISTINGS)(
    '%s has every movement of a wallet that the data service has, in the same order',
    async (action) => {
      for (const wallet of WALLETS) {
        const records = await recordsOf(ask, { action, address: wallet })
        const lines = records.map(
          ({ hash, transactionHash, from, to, contractAddress, value, tokenID, tokenValue }) => {
            const receiver = to === '' ? contractAddress : to
            return [hash ?? transactionHash, from, receiver, tokenValue ?? value ?? tokenID].join(' ')
          },
        )
        expect(lines).toEqual(await movementsOf(wallet, action))
      }
    },
  )

  test.for(LISTINGS)('%s in descending order is the reverse', async (action) => {
    const ascending = await recordsOf(ask, { action, address: BUSIEST })
    expect(await recordsOf(ask, { action, address: BUSIEST, sort: 'desc' })).toEqual(ascending.reverse())
  })

  test('lists the records of a range whose first and last block count', async () => {
    const all = await recordsOf(ask, { action: 'tokentx', address: BUSIEST })
    await fc.assert(
      fc.asyncProperty(fc.nat(420), fc.nat(420), async (startblock, endblock) => {
        const found = await recordsOf(ask, { action: 'tokentx', address: BUSIEST, startblock, endblock })
        const inRange = ({ blockNumber }: (typeof all)[number]) =>
          Number(blockNumber) >= startblock && Number(blockNumber) <= endblock
        expect(found).toEqual(all.filter(inRange))
      }),
      { numRuns: 25 },
    )
  })

  test.for(['asc', 'desc'])(
    'pages of a listing in the order %s do not overlap and lack nothing',
    async (sort) => {
      const all = await recordsOf(ask, { action: 'token1155tx', address: BUSIEST, sort })
      const pages = [1, 2, 3, 4, 5, 6].map((page) =>
        recordsOf(ask, { action: 'token1155tx', address: BUSIEST, sort, page, offset: 97 }),
      )
      expect((await Promise.all(pages)).flat()).toEqual(all)
    },
  )

  test('lists only the transfers of one token', async () => {
    const all = await recordsOf(ask, { action: 'tokentx', address: BUSIEST })
    const token = String(all[0]?.contractAddress)
    const found = await recordsOf(ask, {
      action: 'tokentx',
      address: BUSIEST,
      contractaddress: token.toUpperCase().replace('0X', '0x'),
    })
    expect(found).toEqual(all.filter(({ contractAddress }) => contractAddress === token))
  })

  test('lists blocks up to the head, and counts the confirmations from it', async () => {
    let head = 200
    const growing = openExplorer(api, { head: () => head })
    const before = await recordsOf(growing, { action: 'txlist', address: BUSIEST })
    head = 210
    const after = await recordsOf(growing, { action: 'txlist', address: BUSIEST, endblock: 200 })
    expect(Number(before.at(-1)?.blockNumber) + Number(before.at(-1)?.confirmations)).toBe(200)
    expect(after).toEqual(
      before.map((record) => ({ ...record, confirmations: String(Number(record.confirmations) + 10) })),
    )
  })
})

test('without an order, Etherscan lists the oldest and Blockscout the newest records first', async () => {
  const listing = { action: 'txlist', address: BUSIEST, offset: 2, sort: 'none' }
  const [[oldest], [newest]] = [
    await recordsOf(openExplorer('etherscan'), listing),
    await recordsOf(openExplorer('blockscout'), listing),
  ]
  expect(Number(oldest?.blockNumber)).toBeLessThan(Number(newest?.blockNumber))
})

test('Blockscout ignores block numbers above 2^31 - 1, and both explorers what is not a number', async () => {
  const count = async (api: (typeof EXPLORERS)[number], startblock: number | string) =>
    (await recordsOf(openExplorer(api), { action: 'tokennfttx', address: BUSIEST, startblock })).length
  expect(await count('etherscan', 2 ** 31)).toBe(0)
  expect(await count('blockscout', 2 ** 31 - 1)).toBe(0)
  expect(await count('blockscout', 2 ** 31)).toBe(await count('blockscout', 0))
  expect(await count('etherscan', 'latest')).toBe(await count('blockscout', -1))
})

test('a creation names the contract instead of a receiver', async () => {
  const records = await recordsOf(openExplorer('etherscan'), {
    action: 'txlist',
    address: demoWallets[0] as string,
  })
  const creations = records.filter(({ to }) => to === '')
  expect(creations.length).toBeGreaterThan(5)
  for (const { contractAddress, methodId } of creations) {
    expect(contractAddress).toMatch(/^0x[0-9a-f]{40}$/)
    expect(methodId).toBe('0x60806040')
  }
})

test('the gas of a block adds up over its transactions', async () => {
  const records = await recordsOf(openExplorer('etherscan'), { action: 'txlist', address: BUSIEST })
  const first = records.filter(({ transactionIndex }) => transactionIndex === '0')
  expect(first.length).toBeGreaterThan(10)
  for (const { cumulativeGasUsed, gasUsed } of first) expect(cumulativeGasUsed).toBe(gasUsed)
  const second = records.find(({ transactionIndex }) => transactionIndex === '1')
  expect(Number(second?.cumulativeGasUsed)).toBeGreaterThan(Number(second?.gasUsed))
})

const CALLS = [
  { type: 'CALL', value: '0', etherscan: false, blockscout: false },
  { type: 'CALL', value: '5', etherscan: true, blockscout: true },
  { type: 'DELEGATECALL', value: '5', etherscan: false, blockscout: true },
  { type: 'DELEGATECALL', value: '0', etherscan: false, blockscout: false },
  { type: 'STATICCALL', value: '0', etherscan: false, blockscout: false },
  { type: 'CREATE', value: '0', etherscan: true, blockscout: true },
  { type: 'UNKNOWN', value: '0', etherscan: true, blockscout: true },
] as const

test.for(CALLS)(
  'lists an internal $type of value $value: etherscan $etherscan, blockscout $blockscout',
  async (expected) => {
    const [from, to] = [{ address: `0x${'1'.repeat(40)}` }, { address: `0x${'2'.repeat(40)}` }]
    const nativeTransaction = {
      blockNumber: '5',
      blockTimestamp: 1_700_000_000,
      txHash: `0x${'a'.repeat(64)}`,
      from,
      to,
      value: '0',
    }
    const internalTransactions = [
      { from, to, internalTxType: expected.type, value: expected.value, isReverted: false },
    ]
    const chains = { 7: [{ nativeTransaction, internalTransactions }] }
    for (const api of EXPLORERS) {
      const ask = openExplorer(api, { chains })
      const found = await recordsOf(ask, { chainid: 7, action: 'txlistinternal', address: to.address })
      expect(found).toHaveLength(expected[api] ? 1 : 0)
    }
  },
)
