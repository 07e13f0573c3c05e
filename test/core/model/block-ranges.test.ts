import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addBlock,
  countBlocks,
  gapsIn,
  subtractRange,
  unionRanges,
} from '../../../src/core/model/block-ranges.ts'
import type { BlockRange } from '../../../src/core/model/model.ts'

const ranges = fc
  .uniqueArray(fc.nat(40), { maxLength: 10 })
  .map((edges) => edges.sort((a, b) => a - b))
  .map((edges) =>
    edges.flatMap((from, at) => (at % 2 === 0 && edges[at + 1] ? [{ from, to: edges[at + 1] ?? from }] : [])),
  )
const gone = fc.record({ from: fc.nat(42), to: fc.nat(42) })

const blocksOf = (list: readonly { from: number; to: number }[]) =>
  list.flatMap(({ from, to }) => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at))

test('what is left is every block but the ones taken out', () => {
  fc.assert(
    fc.property(ranges, gone, (list, taken) => {
      const left = subtractRange(list, taken)
      expect(blocksOf(left)).toEqual(
        blocksOf(list).filter((block) => !(block >= taken.from && block < taken.to)),
      )
      expect(left.every(({ from, to }) => from < to)).toBe(true)
    }),
  )
})

test.for([
  { gone: { from: 0, to: 10 }, left: [{ from: 10, to: 20 }] },
  {
    gone: { from: 12, to: 15 },
    left: [
      { from: 10, to: 12 },
      { from: 15, to: 20 },
    ],
  },
  { gone: { from: 10, to: 20 }, left: [] },
  { gone: { from: 15, to: 15 }, left: [{ from: 10, to: 20 }] },
  { gone: { from: 18, to: 12 }, left: [{ from: 10, to: 20 }] },
  { gone: { from: 19, to: 99 }, left: [{ from: 10, to: 19 }] },
])('taking $gone out of 10 to 20 leaves $left', ({ gone: taken, left }) => {
  expect(subtractRange([{ from: 10, to: 20 }], taken)).toEqual(left)
})

test('united ranges hold the same blocks, sorted, apart from each other', () => {
  fc.assert(
    fc.property(fc.array(gone, { maxLength: 8 }), (list) => {
      const united = unionRanges(list)
      expect(blocksOf(united)).toEqual([...new Set(blocksOf(list))].sort((a, b) => a - b))
      for (const [at, { from, to }] of united.entries()) {
        expect(from).toBeLessThan(to)
        expect(united[at + 1]?.from ?? Number.POSITIVE_INFINITY).toBeGreaterThan(to)
      }
    }),
  )
})

test('uniting leaves the given ranges as they are', () => {
  const list = [
    { from: 5, to: 9 },
    { from: 1, to: 6 },
  ]
  expect(unionRanges(list)).toEqual([{ from: 1, to: 9 }])
  expect(list).toEqual([
    { from: 5, to: 9 },
    { from: 1, to: 6 },
  ])
})

test('what lies between ranges and the ranges themselves are the whole', () => {
  fc.assert(
    fc.property(fc.array(gone, { maxLength: 8 }), gone, (list, whole) => {
      const united = unionRanges(list)
      const inside = blocksOf(whole.from < whole.to ? [whole] : [])
      const taken = new Set(blocksOf(united))
      expect(blocksOf(gapsIn(united, whole))).toEqual(inside.filter((block) => !taken.has(block)))
    }),
  )
})

test('blocks included one by one, in any order and twice, are united ranges', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 40 }), (blocks) => {
      const kept: BlockRange[] = []
      for (const block of blocks) addBlock(kept, block)
      expect(kept).toEqual(unionRanges(blocks.map((block) => ({ from: block, to: block + 1 }))))
      expect(countBlocks(kept)).toBe(new Set(blocks).size)
    }),
  )
})
