import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { nodeData } from '../helpers/node-data.ts'
import { blockPath, fetchAll, fetchJson, fetchPages, type Native } from './requests.ts'

const service = createDataService()
/** The block with the most transactions, 260. */
const DENSE = 237

test('lists every block with as many transactions as the node counted', async () => {
  for (const [block, count] of nodeData.blockTxCounts.entries()) {
    const transactions = await fetchAll<Native>(service, blockPath(block))
    expect(transactions.map((transaction) => transaction.blockIndex)).toEqual([...Array(count).keys()])
    expect(new Set(transactions.map((transaction) => transaction.blockNumber)).size).toBe(Math.min(1, count))
  }
})

test.for([
  { pageSize: '', pages: [100, 100, 60] },
  { pageSize: 'pageSize=0', pages: [100, 100, 60] },
  { pageSize: 'pageSize=100', pages: [100, 100, 60] },
  { pageSize: 'pageSize=99', pages: [99, 99, 62] },
  { pageSize: 'pageSize=65', pages: [65, 65, 65, 65] },
])('splits a block of 260 transactions into pages of $pages for "$pageSize"', async ({ pageSize, pages }) => {
  const fetched = await fetchPages<Native>(service, blockPath(DENSE, pageSize))
  expect(fetched.map((page) => page.length)).toEqual(pages)
  expect(fetched.flat().map((transaction) => transaction.blockIndex)).toEqual([...Array(260).keys()])
})

test('finds a block by its hash in any letter case', async () => {
  const byNumber = await fetchJson<Native & { blockHash: string }>(service, blockPath(DENSE))
  const hash = byNumber.body.transactions[0]?.blockHash ?? ''
  const byHash = await fetchJson<Native>(service, blockPath(`0x${hash.slice(2).toUpperCase()}`))
  expect(byHash.body.transactions).toEqual(byNumber.body.transactions)
})

test('returns no transactions and no token for an empty block', async () => {
  const { status, body } = await fetchJson<Native>(service, blockPath(17))
  expect({ status, body }).toEqual({ status: 200, body: { transactions: [] } })
})

test('derives the blocks of Ethereum mainnet from its transactions', async () => {
  const first = await fetchAll<Native>(service, blockPath(17173049, '', '1'))
  const second = await fetchAll<Native>(service, blockPath(17173050, '', '1'))
  expect(first.length + second.length).toBe(298)
  for (const transactions of [first, second]) {
    expect(transactions.map((transaction) => transaction.blockIndex)).toEqual([...transactions.keys()])
  }
  expect((await fetchJson(service, blockPath(17173051, '', '1'))).status).toBe(404)
})
