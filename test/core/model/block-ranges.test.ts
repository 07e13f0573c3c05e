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
const anyRange = fc.record({ from: fc.nat(42), to: fc.nat(42) })

const blocksOf = (list: readonly { from: number; to: number }[]) =>
  list.flatMap(({ from, to }) => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at))

test('subtracting a range leaves every other block', () => {
  fc.assert(
    fc.property(ranges, anyRange, (list, removed) => {
      const rest = subtractRange(list, removed)
      expect(blocksOf(rest)).toEqual(
        blocksOf(list).filter((block) => !(block >= removed.from && block < removed.to)),
      )
      expect(rest.every(({ from, to }) => from < to)).toBe(true)
    }),
  )
})

test.for([
  { removed: { from: 0, to: 10 }, rest: [{ from: 10, to: 20 }] },
  {
    removed: { from: 12, to: 15 },
    rest: [
      { from: 10, to: 12 },
      { from: 15, to: 20 },
    ],
  },
  { removed: { from: 10, to: 20 }, rest: [] },
  { removed: { from: 15, to: 15 }, rest: [{ from: 10, to: 20 }] },
  { removed: { from: 18, to: 12 }, rest: [{ from: 10, to: 20 }] },
  { removed: { from: 19, to: 99 }, rest: [{ from: 10, to: 19 }] },
])('subtracting $removed from 10 to 20 leaves $rest', ({ removed, rest }) => {
  expect(subtractRange([{ from: 10, to: 20 }], removed)).toEqual(rest)
})

test('a union has the same blocks in sorted ranges that do not touch', () => {
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 8 }), (list) => {
      const united = unionRanges(list)
      expect(blocksOf(united)).toEqual([...new Set(blocksOf(list))].sort((a, b) => a - b))
      for (const [at, { from, to }] of united.entries()) {
        expect(from).toBeLessThan(to)
        expect(united[at + 1]?.from ?? Number.POSITIVE_INFINITY).toBeGreaterThan(to)
      }
    }),
  )
})

test('unionRanges does not modify its argument', () => {
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

test('gaps are the blocks within the bounds that no range covers', () => {
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 8 }), anyRange, (list, bounds) => {
      const united = unionRanges(list)
      const inside = blocksOf(bounds.from < bounds.to ? [bounds] : [])
      const covered = new Set(blocksOf(united))
      expect(blocksOf(gapsIn(united, bounds))).toEqual(inside.filter((block) => !covered.has(block)))
    }),
  )
})

test('adding blocks one by one, in any order and repeatedly, gives their union', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 40 }), (blocks) => {
      const added: BlockRange[] = []
      for (const block of blocks) addBlock(added, block)
      expect(added).toEqual(unionRanges(blocks.map((block) => ({ from: block, to: block + 1 }))))
      expect(countBlocks(added)).toBe(new Set(blocks).size)
    }),
  )
})
