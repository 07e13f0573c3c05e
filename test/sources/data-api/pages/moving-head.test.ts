import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOOKBACK_BLOCKS } from '../../../../src/core/model/lookback.ts'
import { NO_END } from '../../../../src/core/model/model.ts'
import { type RangeSpec, readRange } from '../../../../src/sources/data-api/pages/read-range.ts'
import {
  type SortedItem,
  sameSecondBlocks,
  sameSecondListing,
  TIE_ORDERS,
} from '../../../helpers/same-second-listing.ts'
import { createSeededRandom } from '../../../helpers/seeded-random.ts'
import { testSample } from '../../../helpers/test-sample.ts'
import { fakeRequester } from './fake-requester.ts'
import { bodyOf, hashesIn, itemAt, tiedItems } from './listing.ts'

const open: RangeSpec = {
  chain: '1',
  address: '0xaa',
  order: 'desc',
  cutoffMs: Number.POSITIVE_INFINITY,
  range: { from: 0, to: NO_END },
}

type Moving = { pageSize: number; ties: (typeof TIE_ORDERS)[number]; seed: number }

/** Reads a listing that `change` modifies before each request but the first. */
async function readMoving(
  first: readonly SortedItem<object>[],
  change: (items: SortedItem<object>[]) => SortedItem<object>[],
  { pageSize, ties, seed }: Moving,
) {
  let items = [...first]
  const listing = sameSecondListing({ items: () => items, pageSize, ties, random: createSeededRandom(seed) })
  const { requestContext, received } = fakeRequester((query) => {
    if (received.length > 1) items = change(items)
    const page = listing(query)
    return page === undefined ? { status: 400 } : { body: bodyOf(page.items, page.next) }
  })
  const listed = new Set<string>()
  for await (const page of readRange(requestContext, open))
    for (const hash of hashesIn(page.body)) listed.add(hash)
  const remaining = items.filter((item) => first.includes(item))
  return { received, lost: remaining.filter(({ hash }) => !listed.has(hash)) }
}

test('no transaction is lost if a reorg removes others between two pages', async () => {
  const fields = {
    seed: fc.nat(1_000_000),
    pageSize: fc.integer({ min: 16, max: 40 }),
    ties: fc.constantFrom(...TIE_ORDERS),
    removed: fc.double({ min: 0.01, max: 0.9, noNaN: true }),
    depth: fc.integer({ min: 1, max: LOOKBACK_BLOCKS - 1 }),
    blocks: fc.integer({ min: 5, max: 120 }),
  }
  await fc.assert(
    fc.asyncProperty(fc.record(fields), async ({ seed, removed, depth, blocks, ...given }) => {
      const random = createSeededRandom(seed)
      const all = tiedItems(sameSecondBlocks({ blocks, random, maxPerSecond: 3 }))
      const head = all.at(-1)?.block ?? 0
      const change = (items: SortedItem<object>[]) =>
        items.filter(({ block }) => block <= head - depth || random.next() > removed)
      const { lost } = await readMoving(all, change, { ...given, seed })
      expect(lost).toEqual([])
    }),
    { numRuns: 200 },
  )
})

const itemsBelow = (count: number, at = 0) =>
  tiedItems(Array.from({ length: count }, (_, n) => ({ block: at + n, second: 1_000 + at + n, items: 1 })))
const steady: Moving = { pageSize: 100, ties: 'chain order', seed: 1 }

test('the rest of an open range is requested as a closed range after the first page', async () => {
  const { received } = await readMoving(itemsBelow(250), (items) => items, steady)
  expect(received.map(({ to, token }) => [to, token === undefined])).toEqual([
    [NO_END, true],
    [151, true],
    [52, true],
  ])
})

test('no transaction is lost if tokens are offsets and others at any depth are removed', async () => {
  const all = itemsBelow(2_000)
  const random = createSeededRandom(7)
  const change = (items: SortedItem<object>[]) => items.filter(() => random.next() > 0.01)
  const { lost } = await readMoving(all, change, steady)
  expect(lost).toEqual([])
})

test('no transaction is lost if others of the last minute are removed on a chain with ten blocks a second', async () => {
  const all = tiedItems(
    Array.from({ length: 3_000 }, (_, n) => ({ block: n, second: 1_000 + Math.floor(n / 10), items: 1 })),
  )
  const random = createSeededRandom(7)
  const change = (items: SortedItem<object>[]) =>
    items.filter(({ block }) => block < 2_400 || random.next() > 0.05)
  const { lost } = await readMoving(all, change, steady)
  expect(lost).toEqual([])
})

const LISTINGS = [
  [0, 1],
  [1, 1],
  [100, 1],
  [101, 2],
  [1_000, 11],
  [10_000, 101],
  [30_000, 302],
]
testSample(
  5,
  LISTINGS,
  'a listing of %i transactions takes %i requests while its head moves',
  async ([count = 0, requests]) => {
    let head = count
    const grow = (items: SortedItem<object>[]) => {
      head += 3
      return [...items, ...itemsBelow(3, head)]
    }
    const { received, lost } = await readMoving(itemsBelow(count), grow, steady)
    expect([received.length, lost]).toEqual([requests, []])
  },
)

test.for([
  { seconds: 20, most: 103 },
  { seconds: 1, most: 126 },
])(
  'with many transactions per block, only the last 32 blocks and ten minutes take more requests: blocks of $seconds s',
  async ({ seconds, most }) => {
    const blocks = Array.from({ length: 500 }, (_, n) => ({
      block: n,
      second: 1_000 + seconds * n,
      items: 20,
    }))
    const { received, lost } = await readMoving(tiedItems(blocks), (items) => items, steady)
    expect(lost).toEqual([])
    expect(received.length).toBeGreaterThanOrEqual(100)
    expect(received.length).toBeLessThanOrEqual(most)
  },
)

const endless = expect.objectContaining({
  code: 'PAGE_MALFORMED',
  message: expect.stringContaining('the last 50 pages contained nothing new'),
  fix: expect.stringContaining('nextPageToken'),
})

test.for([
  ['is empty', () => []],
  ['repeats the last one', () => [itemAt(9)]],
] as const)('a listing ends with an error if each page %s and has a new token', async ([, items]) => {
  const { requestContext, received } = fakeRequester(() => ({
    body: bodyOf(items(), `token ${received.length}`),
  }))
  const reading = (async () => {
    for await (const _ of readRange(requestContext, { ...open, range: { from: 0, to: 100 } }));
  })()
  await expect(reading).rejects.toEqual(endless)
  expect(received.length).toBeLessThan(60)
})
