import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { digestHistory, fetchAll, fetchJson, fetchPages, type Item, walletPath } from './requests.ts'

const service = createDataService()
const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const LISTS = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions']

test.for(Object.entries(nodeData.membership))(
  'lists the whole history of %s in both orders',
  async ([address, known]) => {
    const ascending = await fetchAll(service, walletPath(address, 'pageSize=100&sortOrder=asc'))
    expect(ascending).toHaveLength(known.items)
    expect(digestHistory(ascending)).toBe(known.sha256OfHashesInOrder)
    const descending = await fetchAll(service, walletPath(address, 'pageSize=97&sortOrder=desc'))
    expect(descending.reverse()).toEqual(ascending)
  },
)

test('returns only entries that involve the requested address', async () => {
  for (const address of [
    '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25',
    '0xC529e5f8D5b162BC5dC9A6C546295cB9c6F0F41F',
  ]) {
    const items = await fetchAll(service, walletPath(address, 'pageSize=100'))
    const entries = items.flatMap((item) => LISTS.flatMap((list) => (item[list] ?? []) as Movement[]))
    expect(entries.length).toBeGreaterThan(100)
    expect(entries.filter((entry) => !touches(entry, address))).toEqual([])
  }
})

test('returns the known number of entries over all wallets', async () => {
  const counts = { erc20Transfers: 0, erc721Transfers: 0, erc1155Transfers: 0, internalTransactions: 0 }
  for (const address of demoWallets) {
    for (const item of await fetchAll(service, walletPath(address, 'pageSize=100'))) {
      for (const list of LISTS)
        counts[list as keyof typeof counts] += ((item[list] ?? []) as unknown[]).length
    }
  }
  expect(counts).toEqual({
    erc20Transfers: 5200,
    erc721Transfers: 1099,
    erc1155Transfers: 2638,
    internalTransactions: 2771,
  })
})

test('omits empty lists in odd blocks and includes them in even ones', async () => {
  const items = await fetchAll(service, walletPath(BUSIEST, 'pageSize=100'))
  const lists = items.map((item) => ({
    odd: Number(item.nativeTransaction.blockNumber) % 2 === 1,
    absent: LISTS.filter((list) => !(list in item)).length,
    empty: LISTS.filter((list) => (item[list] as unknown[] | undefined)?.length === 0).length,
  }))
  expect(lists.filter(({ odd, empty }) => odd && empty > 0)).toEqual([])
  expect(lists.filter(({ odd, absent }) => !odd && absent > 0)).toEqual([])
  expect(lists.some(({ absent }) => absent > 0)).toBe(true)
  expect(lists.some(({ empty }) => empty > 0)).toBe(true)
})

test.for([
  { items: 100, address: '0x45bc58F8F693b218f39D9D0844Fea8650EAd0D86', pages: [100] },
  { items: 101, address: '0xC0AB4fef34d5f7279e4c6D1019Bb086C7CcdBbFb', pages: [100, 1] },
  { items: 1, address: '0xa72bEc28df8988fe9F0F3fF3845345Ec163C9FE9', pages: [1] },
  { items: 0, address: '0xFD524703A3B2929DE26b5ae154243d3202106b0e', pages: [0] },
  { items: 0, address: '0x00000000000000000000000000000000deadbeef', pages: [0] },
])('returns $items items in pages of $pages, without a token on the last one', async ({ address, pages }) => {
  const fetched = await fetchPages(service, walletPath(address, 'pageSize=100'))
  expect(fetched.map((page) => page.length)).toEqual(pages)
})

test('returns ten items in ascending order by default', async () => {
  const { body } = await fetchJson(service, walletPath(BUSIEST))
  const { body: explicit } = await fetchJson(
    service,
    walletPath(BUSIEST, 'pageSize=10&sortOrder=asc&startBlock=0'),
  )
  expect(body.transactions).toHaveLength(10)
  expect(explicit.transactions).toEqual(body.transactions)
})

test('finds an address in any letter case', async () => {
  const mixed = await fetchJson(service, walletPath(BUSIEST))
  const upper = await fetchJson(service, walletPath(`0x${BUSIEST.slice(2).toUpperCase()}`))
  expect(upper.body.transactions).toEqual(mixed.body.transactions)
})

test('ignores unknown parameters', async () => {
  const { status } = await fetchJson(service, walletPath(BUSIEST, 'sortBy=time&sortBy=value&colour='))
  expect(status).toBe(200)
})

test('includes the start block and excludes the end block', async () => {
  const items = await fetchAll(service, walletPath(BUSIEST, 'startBlock=100&endBlock=102&pageSize=100'))
  expect(new Set(items.map(blockOf))).toEqual(new Set([100, 101]))
  const whole = await fetchAll(service, walletPath(BUSIEST, 'pageSize=100'))
  expect(items).toEqual(whole.filter((item) => blockOf(item) >= 100 && blockOf(item) < 102))
})

test('returns the same items for any split of the range', { tags: ['long'] }, async () => {
  const whole = await fetchAll(service, walletPath(BUSIEST, 'pageSize=100'))
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 420 }), { maxLength: 8 }), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), 421]
      const parts: Item[] = []
      for (const [at, end] of edges.slice(1).entries()) {
        const range = `startBlock=${edges[at]}&endBlock=${end}&pageSize=100`
        parts.push(...(await fetchAll(service, walletPath(BUSIEST, range))))
      }
      expect(parts).toEqual(whole)
    }),
    { numRuns: 15 },
  )
})

test('returns the same items for any page size', async () => {
  const address = '0xC0AB4fef34d5f7279e4c6D1019Bb086C7CcdBbFb'
  const whole = await fetchAll(service, walletPath(address, 'pageSize=100'))
  for (const pageSize of [1, 2, 7, 50, 99]) {
    expect(await fetchAll(service, walletPath(address, `pageSize=${pageSize}`))).toEqual(whole)
  }
})

test('lists the known number of Ethereum mainnet transactions for the busiest addresses', async () => {
  const summary = new URL('../fixtures/mainnet-summary.json', import.meta.url)
  const { topAddresses } = JSON.parse(readFileSync(summary, 'utf8')) as {
    topAddresses: Record<string, number>
  }
  const counts: Record<string, number> = {}
  for (const address of Object.keys(topAddresses)) {
    counts[address] = (await fetchAll(service, walletPath(address, 'pageSize=9', '1'))).length
  }
  expect(counts).toEqual(topAddresses)
})

type Movement = { from?: { address: string }; to?: { address: string } }

function touches({ from, to }: Movement, address: string): boolean {
  return [from, to].some((party) => party?.address.toLowerCase() === address.toLowerCase())
}

function blockOf(item: Item): number {
  return Number(item.nativeTransaction.blockNumber)
}
