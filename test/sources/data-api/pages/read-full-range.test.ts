import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockRange, NO_END } from '../../../../src/core/model/model.ts'
import type { ApiResponse } from '../../../../src/http/http-client.ts'
import type { RequestContext } from '../../../../src/http/request.ts'
import { dataApi } from '../../../../src/sources/data-api/data-api.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import { fakeClient } from '../../../helpers/fake-client.ts'
import { bodyOf, itemAt } from './listing.ts'

const ADDRESS = `0x${'a'.repeat(40)}`
const OTHER = `0x${'b'.repeat(40)}`

/** A transaction in a block, with the values of its internal transactions. */
type Given = {
  second?: number
  values?: readonly number[]
  isListed?: boolean
  listedValues?: readonly number[]
}
type Transaction = Required<Given> & { block: number; item: ReturnType<typeof itemAt> }

const internalOf = (value: number) => ({
  from: { address: OTHER },
  to: { address: ADDRESS },
  value: String(value),
  internalTxType: 'CALL',
})

/** One transaction in each block from 0 on. Its listing contains `listedValues`, by default all values. */
function transactionsOf(given: readonly Given[]): Transaction[] {
  return given.map(({ second, values = [], isListed = true, listedValues = values }, block) => {
    const time = second ?? block
    const item = itemAt(block, { second: time })
    Object.assign(item.nativeTransaction, { blockHash: `0xb${block}` })
    return { block, second: time, values, isListed, listedValues, item }
  })
}

type Entry = { block: number; entry: object }

function listingsOf(transactions: readonly Transaction[]) {
  const listed = transactions.filter(({ isListed }) => isListed)
  const items = listed.map(({ block, item, listedValues }): Entry => {
    return { block, entry: { ...item, internalTransactions: listedValues.map(internalOf) } }
  })
  const internals = transactions.flatMap(({ block, item, values }) => {
    const { blockNumber, blockTimestamp, txHash } = item.nativeTransaction
    const position = { blockNumber, blockTimestamp, blockHash: `0xb${block}`, txHash }
    return values.map((value): Entry => ({ block, entry: { ...position, ...internalOf(value) } }))
  })
  return { items, internals }
}

type Service = {
  pageSize?: number
  hasTokens?: boolean
  given?: readonly Given[]
  /** Number of requests before which the last block does not exist. @default 0 */
  lastAppearsAfter?: number
}

/** A service whose pages are smaller than requested, and whose tokens are offsets, refused at first without `hasTokens`. */
function startService({ pageSize = 3, hasTokens = true, given = [], lastAppearsAfter = 0 }: Service) {
  const transactions = transactionsOf(given)
  const { items, internals } = listingsOf(transactions)
  const received: string[] = []
  const refused = new Set<string>()
  const send = async ({ pathAndQuery }: { pathAndQuery: string }): Promise<ApiResponse> => {
    const { pathname, searchParams: query } = new URL(pathAndQuery, 'http://loopback')
    received.push(pathname.split('/').at(-1) ?? '')
    const hash = /0x[0-9a-f]{64}$/.exec(pathname)?.[0]
    const found = transactions.find(({ item }) => item.nativeTransaction.txHash === hash)
    if (hash !== undefined)
      return reply(Buffer.from(JSON.stringify({ ...found?.item, internalTransactions: [] })))
    const [from, to] = [Number(query.get('startBlock')), Number(query.get('endBlock'))]
    const head = received.length > lastAppearsAfter ? given.length : given.length - 1
    const all = (pathname.endsWith(':listInternals') ? internals : items).filter(
      ({ block }) => block >= from && block < to && block < head,
    )
    if (query.get('sortOrder') === 'desc') all.reverse()
    const token = query.get('pageToken')
    if (token !== null && !hasTokens && !refused.has(pathAndQuery)) {
      refused.add(pathAndQuery)
      return { status: 400, headers: {}, body: Buffer.from('{"message":"unknown token"}') }
    }
    const start = Number(token ?? 0)
    const end = start + pageSize
    const page = all.slice(start, end).map(({ entry }) => entry)
    return reply(bodyOf(page, end < all.length ? String(end) : undefined))
  }
  const requestContext: RequestContext = {
    client: fakeClient(send),
    rateLimiter: { acquire: async () => () => {}, pausedForMs: () => 0 },
    limit: (task) => task(),
    retry: { retries: 0, firstDelayMs: 0 },
    signal: new AbortController().signal,
    onEvent: () => {},
  }
  return { requestContext, received, transactions }
}

const reply = (body: Buffer): ApiResponse => ({ status: 200, headers: {}, body })

type Reading = {
  range?: BlockRange
  order?: 'asc' | 'desc'
  keep?: (rest: BlockRange) => BlockRange | undefined
  /** Receives the pages. */
  pages?: RangePage[]
}

async function read(
  { requestContext }: Pick<ReturnType<typeof startService>, 'requestContext'>,
  given: Reading = {},
) {
  const {
    range = { from: 0, to: NO_END },
    order = 'asc',
    keep = (rest: BlockRange) => rest,
    pages = [],
  } = given
  const listing = dataApi.openWallet({ chain: '1', address: ADDRESS, internals: 'full' })
  const request = { range, order, cutoffMs: Number.POSITIVE_INFINITY, narrowRange: keep } as const
  for await (const page of listing.readRange(requestContext, request)) pages.push(page)
  return pages
}

type StoredItem = { nativeTransaction: { blockNumber: string }; internalTransactions?: { value: string }[] }

/** The values of the internal transactions in the pages, by block, each block with the page that covers it. */
function valuesIn(pages: readonly RangePage[]): Record<number, number[]> {
  const values: Record<number, number[]> = {}
  for (const { body, covered } of pages)
    for (const item of (JSON.parse(body.toString()) as { transactions: StoredItem[] }).transactions) {
      const block = Number(item.nativeTransaction.blockNumber)
      expect(block >= covered.from && block < covered.to).toBe(true)
      values[block] = (item.internalTransactions ?? []).map(({ value }) => Number(value)).sort()
    }
  return values
}

const expectedValues = (transactions: readonly Transaction[]) =>
  Object.fromEntries(
    transactions
      .filter(({ isListed, values }) => isListed || values.length > 0)
      .map(({ block, values }) => [block, [...values].sort()]),
  )

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
