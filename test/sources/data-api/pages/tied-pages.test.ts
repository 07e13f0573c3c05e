import fc from 'fast-check'
import { expect } from 'vitest'
import { readRange } from '../../../../src/sources/data-api/pages/read-range.ts'
import type { RangePage } from '../../../../src/sources/source.ts'
import {
  type ListingOptions,
  type SortedItem,
  sameSecondBlocks,
  sameSecondListing,
  TIE_ORDERS,
} from '../../../helpers/same-second-listing.ts'
import { createSeededRandom } from '../../../helpers/seeded-random.ts'
import { testSample } from '../../../helpers/test-sample.ts'
import { fakeRequester } from './fake-requester.ts'
import { bodyOf, hashesIn, tiedItems } from './listing.ts'

type Given = Omit<ListingOptions<object>, 'items' | 'random'> & { seed: number; order: 'asc' | 'desc' }

/** Reads a listing to its end. Each page may complete only blocks whose items have all been listed. */
async function readAll(all: readonly SortedItem<object>[], { order, seed, ...given }: Given, grow = 0) {
  const random = createSeededRandom(seed)
  const old = all.filter(({ block }) => block < END)
  const listing = sameSecondListing({
    ...given,
    random,
    items: () => all.slice(0, old.length + grow * received.length),
  })
  const { requestContext, received } = fakeRequester((query) => {
    const page = listing(query)
    return page === undefined ? { status: 400 } : { body: bodyOf(page.items, page.next) }
  })
  const listed = new Set<string>()
  const pages: RangePage[] = []
  const range = { from: 0, to: 1_000_000 }
  const request = { chain: '1', address: '0xaa', range, order, cutoffMs: Number.POSITIVE_INFINITY }
  for await (const page of readRange(requestContext, request)) {
    for (const hash of hashesIn(page.body)) listed.add(hash)
    const { from, to } = page.covered
    const lost = old.filter(({ block, hash }) => block >= from && block < to && !listed.has(hash))
    expect(lost).toEqual([])
    pages.push(page)
  }
  expect(pages.at(-1)?.rest).toBeUndefined()
  expect(pages.reduce((sum, { covered }) => sum + covered.to - covered.from, 0)).toBe(range.to)
  expect(old.filter(({ hash }) => !listed.has(hash))).toEqual([])
  return received.length
}

const END = 60
/** Blocks that are added while the listing is read. */
const LATER = 40

const FIELDS = {
  seed: fc.nat(1_000_000),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  pageSize: fc.integer({ min: 2, max: 30 }),
  refused: fc.constantFrom(0, 0.1, 1),
}

const SORTED = TIE_ORDERS.filter((ties) => ties !== 'random per request')
testSample(
  SORTED.length,
  [12, 60].flatMap((numRuns) => SORTED.map((ties) => ({ ties, numRuns }))),
  'every item is returned before its block is complete, ties $ties: $numRuns runs',
  async ({ ties, numRuns }) => {
    const most = fc.integer({ min: 1, max: 20 })
    await fc.assert(
      fc.asyncProperty(fc.record(FIELDS), most, async ({ seed, ...given }, maxPerSecond) => {
        const blocks = sameSecondBlocks({ blocks: END, random: createSeededRandom(seed), maxPerSecond })
        await readAll(tiedItems(blocks), { ...given, seed, ties })
      }),
      { numRuns },
    )
  },
)

/**
 * No second fills a page: if its order changes with each request, a larger one could never be recognized as
 * complete.
 */
const FEW = 3
const MORE_THAN_A_SECOND = fc.integer({ min: 16, max: 40 })

testSample(
  1,
  [25, 100],
  'no item is lost if each request orders a second differently: %i runs',
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(fc.record({ ...FIELDS, pageSize: MORE_THAN_A_SECOND }), async (given) => {
        const blocks = sameSecondBlocks({
          blocks: END,
          random: createSeededRandom(given.seed),
          maxPerSecond: FEW,
        })
        await readAll(tiedItems(blocks), { ...given, ties: 'random per request' })
      }),
      { numRuns },
    )
  },
)

testSample(
  1,
  [25, 100],
  'no item is lost if others arrive and tokens count from the newest: %i runs',
  async (numRuns) => {
    const fields = { ...FIELDS, pageSize: MORE_THAN_A_SECOND, ties: fc.constantFrom(...TIE_ORDERS) }
    await fc.assert(
      fc.asyncProperty(fc.record(fields), fc.integer({ min: 1, max: 60 }), async (given, grow) => {
        const blocks = sameSecondBlocks({
          blocks: END + LATER,
          random: createSeededRandom(given.seed),
          maxPerSecond: FEW,
        })
        await readAll(tiedItems(blocks), given, grow)
      }),
      { numRuns },
    )
  },
)
