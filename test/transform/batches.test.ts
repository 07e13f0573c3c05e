import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PageRecord } from '../../src/checkpoint/listing-state.ts'
import type { BlockRange } from '../../src/core/model/model.ts'
import { cutBatches, maxOverlappingBytes, pagesIn } from '../../src/transform/batches.ts'
import type { PageLocation } from '../../src/transform/merge/page-source.ts'

const END = 1_000

type At = { wallet?: string; bytes?: number; validBefore?: number }

/** A page on disk with items of these blocks. */
function frameOf(
  blocks: PageRecord['blocks'],
  at = 0,
  { wallet = '0xa', bytes = 1, validBefore }: At = {},
): PageRecord {
  const counted = validBefore ?? Number.POSITIVE_INFINITY
  return {
    wallet,
    location: { start: at, offset: at, bytes },
    blocks,
    items: 1,
    bad: 0,
    validBefore: counted,
    run: 0,
  }
}

/** The places of pages over these blocks, in the order of receipt. */
const placesOf = (all: readonly { min: number; max: number; bytes?: number }[]): PageLocation[] =>
  pagesIn(
    all.map(({ min, max, bytes = 1 }, at) => frameOf({ min, max }, at, { bytes })),
    { from: 0, to: END },
  )

const offsetsIn = (records: readonly PageRecord[], range: BlockRange) =>
  pagesIn(records, range).map(({ offset }) => offset)

test('a range has the pages that touch it, and none that touches its end alone', () => {
  const records = [
    frameOf({ min: 0, max: 9 }, 0),
    frameOf({ min: 9, max: 10 }, 1),
    frameOf({ min: 20, max: 25 }, 2),
  ]
  expect(offsetsIn(records, { from: 10, to: 20 })).toEqual([1])
  expect(offsetsIn(records, { from: 9, to: 21 })).toEqual([0, 1, 2])
})

test('pages without a place, and those that were read again since, are in no range', () => {
  const records = [
    frameOf(null, 0),
    frameOf({ min: 5, max: 9 }, 1, { validBefore: 5 }),
    frameOf({ min: 5, max: 9 }, 2, { validBefore: 6 }),
  ]
  expect(offsetsIn(records, { from: 0, to: 20 })).toEqual([2])
  expect(pagesIn(records, { from: 0, to: 20 })[0]).toMatchObject({ wallet: '0xa', validBefore: 6 })
})

const anyPlaces = fc
  .array(
    fc.record({
      min: fc.nat(END - 1),
      length: fc.nat(40),
      bytes: fc.constantFrom(1_000, 900_000, 3_000_000, 9_000_000),
    }),
    { maxLength: 60 },
  )
  .map((all) =>
    placesOf(all.map(({ min, length, bytes }) => ({ min, max: Math.min(END - 1, min + length), bytes }))),
  )

test('slices cover every block once, with every page that touches them', () => {
  fc.assert(
    fc.property(anyPlaces, (pages) => {
      const batches = cutBatches({ from: 0, to: END }, pages)
      expect(batches[0]?.range.from).toBe(0)
      expect(batches.at(-1)?.range.to).toBe(END)
      for (const [at, { range, pages: held }] of batches.entries()) {
        expect(range.from).toBeLessThan(range.to)
        if (at > 0) expect(range.from).toBe(batches[at - 1]?.range.to)
        const touching = pages.filter(
          ({ keyRange }) => keyRange && keyRange.first.block < range.to && keyRange.last.block >= range.from,
        )
        expect(held).toEqual(touching)
      }
    }),
    { numRuns: 300 },
  )
})

/** So many pages of one block each. */
const pagesEach = (count: number, bytes: number) =>
  placesOf(Array.from({ length: count }, (_, at) => ({ min: at, max: at, bytes })))

test.for([
  { pages: 15, bytes: 1_000_000, sizes: [8, 7] },
  { pages: 16, bytes: 1_000_000, sizes: [8, 8] },
  { pages: 9, bytes: 2_500_000, sizes: [4, 4, 1] },
  { pages: 7, bytes: 4_000_000, sizes: [3, 3, 1] },
])('$pages pages of $bytes bytes are slices of $sizes: of 8 MB, and no less than three pages', (given) => {
  const batches = cutBatches({ from: 0, to: END }, pagesEach(given.pages, given.bytes))
  expect(batches.map(({ pages }) => pages.length)).toEqual(given.sizes)
})

test('where many pages overlap, slices are three times what overlaps', () => {
  const wide = placesOf(Array.from({ length: 10 }, () => ({ min: 0, max: END - 1, bytes: 1_000_000 })))
  const batches = cutBatches({ from: 0, to: END }, [...wide, ...pagesEach(100, 1_000_000)])
  // The first has the wide pages among its bytes, each of the others a third again of them beside its own.
  expect(batches.map(({ pages }) => pages.length)).toEqual([33, 43, 43, 21])
})

test('a range without pages is one slice without places', () => {
  expect(cutBatches({ from: 0, to: END }, [])).toEqual([{ range: { from: 0, to: END }, pages: [] }])
})

test('pages that touch the same block overlap, those that follow each other do not', () => {
  expect(maxOverlappingBytes([])).toBe(0)
  const all = [
    { min: 0, max: 5, bytes: 100 },
    { min: 6, max: 9, bytes: 70 },
  ]
  expect(maxOverlappingBytes(placesOf(all))).toBe(100)
  expect(maxOverlappingBytes(placesOf([...all, { min: 5, max: 6, bytes: 5 }]))).toBe(105)
  const wide = [
    { min: 0, max: 9, bytes: 20 },
    { min: 9, max: 9, bytes: 50 },
  ]
  expect(maxOverlappingBytes(placesOf([...all, ...wide]))).toBe(140)
})
