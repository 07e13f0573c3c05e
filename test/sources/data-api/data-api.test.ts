import { expect, test } from 'vitest'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'
import { fakeRequester, type Query, type Reply } from './pages/fake-requester.ts'
import { bodyOf, itemAt } from './pages/listing.ts'

const WALLET = { chain: '43114', address: '0xab' }
const RANGE = { from: 10, to: 20 }
const REQUEST = { range: RANGE, order: 'asc', cutoffMs: Number.POSITIVE_INFINITY } as const

/** A service that answers 413 to pages of more than 25 items. */
const smallPages = ({ size }: Query): Reply =>
  size > 25 ? { status: 413, body: Buffer.alloc(0) } : { body: bodyOf([itemAt(12)]) }

test('the first keys of a range take one request of one item', async () => {
  const { requestContext, received } = fakeRequester(() => ({ body: bodyOf([itemAt(12)], 'more') }))
  const keys = await dataApi.openWallet(WALLET).firstKeys(requestContext, RANGE)
  expect(keys.map(({ block }) => block)).toEqual([12])
  expect(received).toEqual([{ address: '0xab', ...RANGE, order: 'asc', token: undefined, size: 1 }])
})

test('the readers of a wallet share its page size, and other wallets have their own', async () => {
  const { requestContext, received } = fakeRequester(smallPages)
  const listing = dataApi.openWallet(WALLET)
  const read = async () => {
    for await (const _ of listing.readRange(requestContext, REQUEST));
  }
  expect(listing.reducedPageSize()).toBeUndefined()
  await read()
  expect(listing.reducedPageSize()).toBe(25)
  await read()
  // 413 counts twice, so the size is not raised after one page.
  expect(received.map(({ size }) => size)).toEqual([100, 50, 25, 25])
  expect(dataApi.openWallet(WALLET).reducedPageSize()).toBeUndefined()
})

test('all readers of a wallet together list at most 100 items twice to avoid tokens that look like offsets', async () => {
  const { requestContext, received } = fakeRequester(({ from, to, token }) => {
    const first = from + Number(token ?? 0)
    const last = Math.min(to, first + 100)
    const items = Array.from({ length: last - first }, (_, at) => itemAt(first + at))
    return { body: bodyOf(items, last < to ? String(last - from) : undefined) }
  })
  const listing = dataApi.openWallet(WALLET)
  for (const from of [0, 6_000, 12_000])
    for await (const _ of listing.readRange(requestContext, {
      ...REQUEST,
      range: { from, to: from + 6_000 },
    }));
  const listed = received.reduce((sum, { token }) => sum + (token === undefined ? 1 : 0), 0)
  expect(listed).toBeLessThanOrEqual(100 + 3)
})

test('the times of a block take one request of one transaction', async () => {
  const natives = [itemAt(7, { second: 1_000 }).nativeTransaction, { blockNumber: 'x' }]
  const { requestContext, received } = fakeRequester(() => ({ body: bodyOf(natives, 'more') }))
  const times = await dataApi.openBlocks?.({ chain: '43114' }).blockTimes(requestContext, 7)
  expect(times).toMatchObject([{ timeMs: 1_000_000, lastMs: 1_000_999 }])
  expect(received.map(({ size }) => size)).toEqual([1])
})

test('a torn response to the request for block times is requested again', async () => {
  const bodies = [Buffer.from('{"transactions":'), bodyOf([itemAt(7).nativeTransaction])]
  const { requestContext, received } = fakeRequester(() => ({ body: bodies.shift() ?? bodyOf([]) }))
  expect(await dataApi.openBlocks?.({ chain: '43114' }).blockTimes(requestContext, 7)).toHaveLength(1)
  expect(received).toHaveLength(2)
})

test('JSON of another shape for the request for block times is not requested again', async () => {
  const { requestContext, received } = fakeRequester(() => ({ body: Buffer.from('{}') }))
  const times = dataApi.openBlocks?.({ chain: '43114' }).blockTimes(requestContext, 7)
  await expect(times).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
  expect(received).toHaveLength(1)
})
