import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_END } from '../../../../src/core/model/model.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import { expectedValues, internalOf, listingsOf, read, startService, valuesIn } from './internals-service.ts'
import { bodyOf } from './listing.ts'

const anyTransaction = fc.record({
  values: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 9 }),
  isListed: fc.boolean(),
  gap: fc.constantFrom(0, 1),
  share: fc.constantFrom(0, 0.5, 1),
})

test('every block has the internal transactions of both listings, however pages end', async () => {
  const property = fc.asyncProperty(
    fc.array(anyTransaction, { maxLength: 14 }),
    fc.integer({ min: 2, max: 7 }),
    fc.boolean(),
    fc.constantFrom('asc', 'desc'),
    async (generated, pageSize, hasTokens, order) => {
      let second = 0
      const given = generated.map(({ values, isListed, gap, share }) => {
        second += gap
        return { values, isListed, second, listedValues: values.slice(0, Math.floor(values.length * share)) }
      })
      const service = startService({ pageSize, hasTokens, given })
      const range = { from: 0, to: order === 'asc' ? given.length + 1 : NO_END }
      const pages = await read(service, { range, order: order as 'asc' | 'desc' })
      expect(valuesIn(pages)).toEqual(expectedValues(service.transactions))
      expect(pages.reduce((sum, { covered }) => sum + covered.to - covered.from, 0)).toBe(range.to)
    },
  )
  await fc.assert(property, { numRuns: 150 })
})

test('a page stays as received if the second listing adds nothing', async () => {
  const given = [{ values: [1, 1] }, {}, { values: [2] }]
  const service = startService({ pageSize: 100, given })
  const [page] = await read(service)
  const { items } = listingsOf(service.transactions)
  expect(page?.body).toEqual(bodyOf(items.map(({ entry }) => entry)))
  expect(service.received).toEqual(['transactions', 'transactions:listInternals'])
})

test('requests each transaction once that only the second listing names', async () => {
  const given = [{ values: [1, 2], isListed: false }, {}, { values: [2], isListed: false }]
  const service = startService({ pageSize: 100, given })
  const [page] = await read(service)
  expect(page).toMatchObject({ items: 3, bad: 0, blocks: { min: 0, max: 2 } })
  expect(service.received).toHaveLength(4)
})

test('many of these are requested in parts', async () => {
  const given = Array.from({ length: 60 }, () => ({ values: [1], isListed: false }))
  for (const [order, covered] of [
    ['asc', [0, 25, 50]],
    ['desc', [35, 10, 0]],
  ] as const) {
    const service = startService({ pageSize: 100, given })
    const pages = await read(service, { order })
    expect(pages.map((page) => page.covered.from)).toEqual(covered)
    expect(valuesIn(pages)).toEqual(expectedValues(service.transactions))
    expect(service.received).toHaveLength(62)
  }
})

test('the blocks before a failed request are not lost', async () => {
  const given = Array.from({ length: 6 }, () => ({ values: [1], isListed: false }))
  const service = startService({ pageSize: 100, given })
  const { client } = service.requestContext
  const failing = service.transactions[3]?.item.nativeTransaction.txHash ?? ''
  const broken = fakeClient(async (one, signal) =>
    one.pathAndQuery.includes(failing)
      ? { status: 404, headers: {}, body: Buffer.from('{}') }
      : client.send(one, signal),
  )
  const pages: RangePage[] = []
  const reading = read({ requestContext: { ...service.requestContext, client: broken } }, { pages })
  await expect(reading).rejects.toThrow('only the listing of internal transactions names this transaction')
  expect(pages.map(({ covered }) => covered)).toEqual([{ from: 0, to: 3 }])
  expect(valuesIn(pages)).toEqual({ 0: [1], 1: [1], 2: [1] })
})

test('a new block at the head duplicates no internal transactions, although it shifts the tokens', async () => {
  const values = Array.from({ length: 8 }, () => 1)
  const given = [{ values, listedValues: [] }, { values: [2, 2] }]
  const service = startService({ given, lastAppearsAfter: 2 })
  expect(valuesIn(await read(service, { order: 'desc' }))).toEqual(expectedValues(service.transactions))
})

test('internal transactions of an outdated block are left to the next run', async () => {
  const service = startService({
    pageSize: 100,
    given: [
      { values: [1], isListed: false },
      { values: [2], listedValues: [] },
    ],
  })
  for (const { item } of service.transactions) Object.assign(item.nativeTransaction, { blockHash: '0xnew' })
  expect(valuesIn(await read(service))).toEqual({ 1: [] })
})

test('reads no further than the blocks that remain for this reader', async () => {
  const given = Array.from({ length: 30 }, () => ({ values: [1] }))
  const service = startService({ given })
  const pages = await read(service, { keep: ({ from, to }) => (from < 9 ? { from, to } : undefined) })
  const end = Math.max(...pages.map(({ covered }) => covered.to))
  expect(end).toBeLessThan(14)
  expect(Object.keys(valuesIn(pages))).toHaveLength(end)
  expect(service.received.filter((one) => one.endsWith(':listInternals')).length).toBeLessThan(10)
})

test('an entry without a position becomes an item that is rejected', async () => {
  const service = startService({ pageSize: 100, given: [{ values: [1] }] })
  const { client } = service.requestContext
  const broken = fakeClient(async (one, signal) => {
    const response = await client.send(one, signal)
    if (!one.pathAndQuery.includes(':listInternals')) return response
    return { ...response, body: bodyOf([internalOf(9)]) }
  })
  const [page] = await read({ requestContext: { ...service.requestContext, client: broken } })
  expect(page).toMatchObject({ items: 2, bad: 1 })
})
