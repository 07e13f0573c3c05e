import { expect, test } from 'vitest'
import { NO_END } from '../../../../src/core/model/model.ts'
import type { ApiResponse } from '../../../../src/http/http-client.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import {
  expectedValues,
  internalOf,
  read,
  reply,
  startService,
  type Transaction,
  valuesIn,
} from './internals-service.ts'
import { bodyOf } from './listing.ts'

const ranges = [
  ['asc', { from: 0, to: 3 }],
  ['desc', { from: 0, to: 3 }],
  ['desc', { from: 0, to: NO_END }],
] as const

test.for(ranges)(
  'a transaction may have more than 50 pages of internal transactions (%s, %o)',
  async ([order, range]) => {
    const values = Array.from({ length: 200 }, (_, at) => 1 + (at % 7))
    for (const large of [
      { values, isListed: false },
      { values, listedValues: [] },
    ]) {
      const service = startService({ given: [{ values: [1] }, large, { values: [2] }] })
      expect(valuesIn(await read(service, { order, range }))).toEqual(expectedValues(service.transactions))
      expect(service.received.length).toBeLessThan(150)
    }
  },
)

test('a listing of internal transactions that does not end is an error', async () => {
  const position = { blockNumber: '1', blockTimestamp: 1, txHash: '0x1' }
  const entries = Array.from({ length: 1_000 }, () => ({ ...position, ...internalOf(1) }))
  let pages = 0
  const fault = (pathAndQuery: string) => {
    if (!pathAndQuery.includes(':listInternals')) return undefined
    pages += 1
    return reply(bodyOf(entries, `token ${pages}`))
  }
  await expect(read(startService({ fault }))).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
    message: expect.stringContaining('the pages of one transaction contained more than 50000 entries'),
  })
  expect(pages).toBe(52)
})

const detailsIn = (received: readonly string[]) => received.filter((name) => name.startsWith('0x'))

test('the details of a transaction are requested once for all wallets of a run', async () => {
  const given = [{ values: [1], isListed: false }, {}, { values: [2], isListed: false }]
  const service = startService({ pageSize: 100, given })
  const readWallet = (digit: string) => read(service, { address: `0x${digit.repeat(40)}` })
  const [first, second] = await Promise.all([readWallet('1'), readWallet('2')])
  const third = await readWallet('3')
  for (const pages of [first, second, third]) expect(pages[0]?.body).toEqual(first[0]?.body)
  expect(detailsIn(service.received)).toHaveLength(2)
  const { client } = service.requestContext
  const other = { ...service.requestContext, client: fakeClient(client.send) }
  expect(await read({ requestContext: other })).toHaveLength(1)
  expect(detailsIn(service.received)).toHaveLength(4)
})

test('details of a block that a reorg has replaced are requested again for the next wallet', async () => {
  const service = startService({ pageSize: 100, given: [{}, { values: [1], isListed: false }] })
  const range = { from: 0, to: 2 }
  await read(service, { range })
  const transaction = blockOf(service.transactions, 1)
  transaction.internalsHash = '0xnew'
  Object.assign(transaction.item.nativeTransaction, { blockHash: '0xnew' })
  expect(valuesIn(await read(service, { range, address: `0x${'1'.repeat(40)}` }))).toEqual({ 0: [], 1: [1] })
  expect(service.received).toHaveLength(2 * 3)
})

const notFound: ApiResponse = { status: 404, headers: {}, body: Buffer.from('{}') }
const blockOf = (transactions: readonly Transaction[], block: number) => {
  const found = transactions[block]
  if (found === undefined) throw new Error(`no block ${block}`)
  return found
}

test.for(['asc', 'desc'] as const)(
  'a transaction that a reorg removes before its details arrive is not missed (%s)',
  async (order) => {
    const given = Array.from({ length: 4 }, () => ({ values: [1], isListed: false }))
    const service = startService({
      pageSize: 100,
      given,
      fault: (pathAndQuery) => {
        const transaction = blockOf(service.transactions, 2)
        if (!pathAndQuery.endsWith(transaction.item.nativeTransaction.txHash)) return undefined
        transaction.values = []
        return notFound
      },
    })
    const pages = await read(service, { order, range: { from: 0, to: 4 } })
    expect(valuesIn(pages)).toEqual({ 0: [1], 1: [1], 3: [1] })
    expect(detailsIn(service.received)).toHaveLength(4)
  },
)

test('a transaction whose details are missing at first is requested again', async () => {
  let isMissing = true
  const fault = (pathAndQuery: string) => {
    if (!isMissing || !pathAndQuery.includes('/transactions/0x')) return undefined
    isMissing = false
    return notFound
  }
  const service = startService({ pageSize: 100, given: [{ values: [1], isListed: false }], fault })
  expect(valuesIn(await read(service, { range: { from: 0, to: 1 } }))).toEqual({ 0: [1] })
  expect(service.received).toHaveLength(6)
})

test.for(['listing', 'details'] as const)(
  'a block is read again if its %s are of a time before a reorg',
  async (outdated) => {
    const given = [{ values: [1], isListed: false }, { values: [2], isListed: false }, { values: [3] }]
    let requests = 0
    const service = startService({
      pageSize: 100,
      given,
      fault: (pathAndQuery) => {
        const transaction = blockOf(service.transactions, 1)
        const { nativeTransaction } = transaction.item
        if (!pathAndQuery.endsWith(nativeTransaction.txHash)) return undefined
        requests += 1
        const isOld = outdated === 'details' && requests === 1
        if (outdated === 'listing') transaction.internalsHash = '0xnew'
        const blockHash = isOld ? '0xold' : transaction.internalsHash
        Object.assign(nativeTransaction, { blockHash })
        return undefined
      },
    })
    const pages = await read(service, { range: { from: 0, to: 3 } })
    expect(valuesIn(pages)).toEqual({ 0: [1], 1: [2], 2: [3] })
    expect(requests).toBe(2)
  },
)

test.for([
  ['unlisted', { values: [2], isListed: false }],
  ['listed', { values: [2], listedValues: [] }],
] as const)('a lasting contradiction is an error, and not a gap (%s transaction)', async ([, second]) => {
  for (const [order, covered] of [
    ['asc', { from: 0, to: 1 }],
    ['desc', { from: 3, to: 4 }],
  ] as const) {
    const service = startService({ pageSize: 100, given: [{}, second, second, {}] })
    for (const block of [1, 2])
      Object.assign(blockOf(service.transactions, block).item.nativeTransaction, { blockHash: '0xother' })
    const pages: Awaited<ReturnType<typeof read>> = []
    await expect(read(service, { order, range: { from: 0, to: 4 }, pages })).rejects.toMatchObject({
      code: 'PAGE_MALFORMED',
      message: expect.stringMatching(/its internal transactions are listed in block [12], and itself in/),
    })
    expect(pages.map((page) => page.covered)).toEqual([covered])
  }
})

test('of an open range, only blocks that the lookback reads again may be contradictory', async () => {
  const given = Array.from({ length: 50 }, () => ({ values: [1], listedValues: [] }))
  for (const [block, isError] of [
    [18, false],
    [17, true],
  ] as const) {
    const service = startService({ pageSize: 100, given })
    Object.assign(blockOf(service.transactions, block).item.nativeTransaction, { blockHash: '0xother' })
    const reading = read(service, { order: 'desc' })
    if (isError) await expect(reading).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
    else expect(valuesIn(await reading)[block]).toEqual([])
  }
})
