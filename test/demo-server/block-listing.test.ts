import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { ask, askAll, askPages, blockPath, type Native } from './ask.ts'
import { truth } from './truth.ts'

const service = createDataService()
/** The block with the most transactions, 260. */
const DENSE = 237

test('lists every block with as many transactions as the node counted', async () => {
  for (const [block, count] of truth.blockTxCounts.entries()) {
    const transactions = await askAll<Native>(service, blockPath(block))
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
])('cuts a block of 260 into $pages for "$pageSize"', async ({ pageSize, pages }) => {
  const answered = await askPages<Native>(service, blockPath(DENSE, pageSize))
  expect(answered.map((page) => page.length)).toEqual(pages)
  expect(answered.flat().map((transaction) => transaction.blockIndex)).toEqual([...Array(260).keys()])
})

test('finds a block by its hash in any letter case', async () => {
  const byNumber = await ask<Native & { blockHash: string }>(service, blockPath(DENSE))
  const hash = byNumber.body.transactions[0]?.blockHash ?? ''
  const byHash = await ask<Native>(service, blockPath(`0x${hash.slice(2).toUpperCase()}`))
  expect(byHash.body.transactions).toEqual(byNumber.body.transactions)
})

test('answers an empty block with no transactions and no token', async () => {
  const { status, body } = await ask<Native>(service, blockPath(17))
  expect({ status, body }).toEqual({ status: 200, body: { transactions: [] } })
})

test('derives the blocks of Ethereum mainnet from its transactions', async () => {
  const first = await askAll<Native>(service, blockPath(17173049, '', '1'))
  const second = await askAll<Native>(service, blockPath(17173050, '', '1'))
  expect(first.length + second.length).toBe(298)
  for (const transactions of [first, second]) {
    expect(transactions.map((transaction) => transaction.blockIndex)).toEqual([...transactions.keys()])
  }
  expect((await ask(service, blockPath(17173051, '', '1'))).status).toBe(404)
})
