import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PageRecord } from '../../src/checkpoint/listing-state.ts'
import type { BlockRange } from '../../src/core/model/model.ts'
import { cutBatches, maxOverlappingBytes, pagesIn } from '../../src/transform/batches.ts'
import type { PageLocation } from '../../src/transform/merge/page-items.ts'

const END = 1_000

type At = { wallet?: string; bytes?: number; validBefore?: number }

/** A stored page with items of these blocks. */
function recordOf(
  blocks: PageRecord['blocks'],
  at = 0,
  { wallet = '0xa', bytes = 1, validBefore }: At = {},
): PageRecord {
  return {
    wallet,
    location: { start: at, offset: at, bytes },
    blocks,
    items: 1,
    bad: 0,
    validBefore: validBefore ?? Number.POSITIVE_INFINITY,
    run: 0,
  }
}

/** The locations of pages over these blocks, in the order in which they were received. */
const locationsOf = (all: readonly { min: number; max: number; bytes?: number }[]): PageLocation[] =>
  pagesIn(
    all.map(({ min, max, bytes = 1 }, at) => recordOf({ min, max }, at, { bytes })),
    { from: 0, to: END },
  )

const offsetsIn = (records: readonly PageRecord[], range: BlockRange) =>
  pagesIn(records, range).map(({ offset }) => offset)

test('a range includes the pages that overlap it, but not those that begin at its exclusive end', () => {
  const records = [
    recordOf({ min: 0, max: 9 }, 0),
    recordOf({ min: 9, max: 10 }, 1),
    recordOf({ min: 20, max: 25 }, 2),
  ]
  expect(offsetsIn(records, { from: 10, to: 20 })).toEqual([1])
  expect(offsetsIn(records, { from: 9, to: 21 })).toEqual([0, 1, 2])
})

test('pages without chain positions and superseded pages are in no range', () => {
  const records = [
    recordOf(null, 0),
    recordOf({ min: 5, max: 9 }, 1, { validBefore: 5 }),
    recordOf({ min: 5, max: 9 }, 2, { validBefore: 6 }),
  ]
  expect(offsetsIn(records, { from: 0, to: 20 })).toEqual([2])
  expect(pagesIn(records, { from: 0, to: 20 })[0]).toMatchObject({ wallet: '0xa', validBefore: 6 })
})

const anyLocations = fc
  .array(
    fc.record({
      min: fc.nat(END - 1),
      length: fc.nat(40),
      bytes: fc.constantFrom(1_000, 900_000, 3_000_000, 9_000_000),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    locationsOf(all.map(({ min, length, bytes }) => ({ min, max: Math.min(END - 1, min + length), bytes }))),
  )

test('batches cover every block once and include every page that overlaps them', () => {
  fc.assert(
    fc.property(anyLocations, (pages) => {
      const batches = cutBatches({ from: 0, to: END }, pages)
      expect(batches[0]?.range.from).toBe(0)
      expect(batches.at(-1)?.range.to).toBe(END)
      for (const [at, { range, pages: included }] of batches.entries()) {
        expect(range.from).toBeLessThan(range.to)
        if (at > 0) expect(range.from).toBe(batches[at - 1]?.range.to)
        const overlapping = pages.filter(
          ({ keyRange }) => keyRange && keyRange.first.block < range.to && keyRange.last.block >= range.from,
        )
        expect(included).toEqual(overlapping)
      }
    }),
    { numRuns: 300 },
  )
})

/** `count` pages of one block each. */
const pagesEach = (count: number, bytes: number) =>
  locationsOf(Array.from({ length: count }, (_, at) => ({ min: at, max: at, bytes })))

test.for([
  { pages: 15, bytes: 1_000_000, sizes: [8, 7] },
  { pages: 16, bytes: 1_000_000, sizes: [8, 8] },
  { pages: 9, bytes: 2_500_000, sizes: [4, 4, 1] },
  { pages: 7, bytes: 4_000_000, sizes: [3, 3, 1] },
])('cuts $pages pages of $bytes bytes into batches of $sizes pages: 8 MB, but at least 3 pages', (given) => {
  const batches = cutBatches({ from: 0, to: END }, pagesEach(given.pages, given.bytes))
  expect(batches.map(({ pages }) => pages.length)).toEqual(given.sizes)
})

test('where many pages overlap, a batch has three times the overlapping bytes', () => {
  const wide = locationsOf(Array.from({ length: 10 }, () => ({ min: 0, max: END - 1, bytes: 1_000_000 })))
  const batches = cutBatches({ from: 0, to: END }, [...wide, ...pagesEach(100, 1_000_000)])
  // The first batch counts the 10 wide pages among its bytes; the others include them in addition to their
  // own pages.
  expect(batches.map(({ pages }) => pages.length)).toEqual([33, 43, 43, 21])
})

test('a range without pages is one batch without pages', () => {
  expect(cutBatches({ from: 0, to: END }, [])).toEqual([{ range: { from: 0, to: END }, pages: [] }])
})

test('pages that share a block overlap; consecutive pages do not', () => {
  expect(maxOverlappingBytes([])).toBe(0)
  const all = [
    { min: 0, max: 5, bytes: 100 },
    { min: 6, max: 9, bytes: 70 },
  ]
  expect(maxOverlappingBytes(locationsOf(all))).toBe(100)
  expect(maxOverlappingBytes(locationsOf([...all, { min: 5, max: 6, bytes: 5 }]))).toBe(105)
  const wide = [
    { min: 0, max: 9, bytes: 20 },
    { min: 9, max: 9, bytes: 50 },
  ]
  expect(maxOverlappingBytes(locationsOf([...all, ...wide]))).toBe(140)
})
