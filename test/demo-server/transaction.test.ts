import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { fetchAll, sendRequest, walletPath } from './requests.ts'

const service = createDataService()
const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const LISTS = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions'] as const
const path = (hash: string, chain = '43114') => `GET /v1/chains/${chain}/transactions/${hash}`

test('returns every entry that any wallet sees of a transaction', async () => {
  const items = await fetchAll(service, walletPath(BUSIEST, 'pageSize=100&startBlock=200&endBlock=240'))
  expect(items.length).toBeGreaterThan(100)
  let more = 0
  for (const item of items) {
    const { status, body } = await sendRequest(service, path(item.nativeTransaction.txHash))
    expect(status).toBe(200)
    expect(body.nativeTransaction).toMatchObject(item.nativeTransaction)
    for (const list of LISTS) {
      const seen = (item[list] ?? []) as unknown[]
      expect(body[list] ?? []).toEqual(expect.arrayContaining(seen))
      more += (body[list] ?? []).length - seen.length
    }
  }
  expect(more).toBeGreaterThan(0)
})

test('returns the native coin of the chain with a transaction', async () => {
  const [item] = await fetchAll(service, walletPath('0x0cc809982990ad21Fab2c8FE6d2AA4ee82Ec5543'))
  const { body } = await sendRequest(service, path(item?.nativeTransaction.txHash ?? ''))
  expect(body.networkTokenDetails).toEqual({
    networkToken: { name: 'Avalanche', symbol: 'AVAX', decimals: 18 },
    historicalPrice: { currencyCode: 'usd', value: expect.any(Number) },
  })
})

test('returns the same price of the coin for all transactions of a day', async () => {
  const items = await fetchAll(service, walletPath(BUSIEST, 'endBlock=421'))
  const byDay = new Map<string, Set<unknown>>()
  for (const { nativeTransaction } of items.filter((_, at) => at % 100 === 0)) {
    const { body } = await sendRequest(service, path(nativeTransaction.txHash))
    const day = new Date(Number(body.nativeTransaction.blockTimestamp) * 1_000).toISOString().slice(0, 10)
    const prices = byDay.get(day) ?? new Set()
    byDay.set(day, prices.add(body.networkTokenDetails?.historicalPrice?.value))
  }
  expect(byDay.size).toBeGreaterThan(3)
  expect([...byDay.values()].map(({ size }) => size)).toEqual([...byDay].map(() => 1))
})

test('states no price of the coin on a chain from the options', async () => {
  const [item] = await fetchAll(service, walletPath(BUSIEST, 'pageSize=1&endBlock=60'))
  const made = createDataService({ chains: { made: item === undefined ? [] : [item] } })
  const { body } = await sendRequest(made, path(item?.nativeTransaction.txHash ?? '', 'made'))
  expect(body.networkTokenDetails).toEqual({ networkToken: expect.anything() })
})

test('finds a transaction by its hash in any letter case', async () => {
  const [item] = await fetchAll(service, walletPath(BUSIEST, 'endBlock=60'))
  const hash = item?.nativeTransaction.txHash ?? ''
  expect((await sendRequest(service, path(`0x${hash.slice(2).toUpperCase()}`))).body).toEqual(
    (await sendRequest(service, path(hash))).body,
  )
})

test('returns 404 for a transaction after the head', async () => {
  const [item] = await fetchAll(service, walletPath(BUSIEST, 'startBlock=200&pageSize=1&endBlock=205'))
  const { txHash = '', blockNumber } = item?.nativeTransaction ?? {}
  const at = (head: number) => sendRequest(createDataService({ head }), path(txHash))
  expect((await at(Number(blockNumber))).status).toBe(200)
  expect((await at(Number(blockNumber) - 1)).status).toBe(404)
})

test.for([
  { hash: `0x${'0'.repeat(64)}`, chain: '43114', status: 404, message: 'has no transaction' },
  { hash: `0x${'0'.repeat(64)}`, chain: '7', status: 404, message: 'expected one of' },
  { hash: '0x12', chain: '43114', status: 400, message: '0x and 64 hex digits' },
  { hash: 'latest', chain: '43114', status: 400, message: '0x and 64 hex digits' },
])('rejects the hash $hash on chain $chain with $status', async ({ hash, chain, status, message }) => {
  const response = await sendRequest(service, path(hash, chain))
  expect(response.status).toBe(status)
  expect(response.body.message).toContain(message)
})
