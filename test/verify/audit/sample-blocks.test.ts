import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleBlocks } from '../../../src/verify/audit/sample-blocks.ts'

const sampleRequest = fc
  .record({ from: fc.nat(1_000), size: fc.integer({ min: 1, max: 200 }), seed: fc.nat() })
  .chain(({ from, size, seed }) =>
    fc.record({
      seed: fc.constant(seed),
      from: fc.constant(from),
      to: fc.constant(from + size),
      required: fc.uniqueArray(fc.integer({ min: from, max: from + size - 1 }), { maxLength: 50 }),
      more: fc.nat(250),
    }),
  )

test('selects the requested number of distinct blocks within the range, ascending', () => {
  fc.assert(
    fc.property(sampleRequest, ({ more, ...draw }) => {
      const count = draw.required.length + more
      const drawn = sampleBlocks({ ...draw, count })
      expect(drawn).toHaveLength(Math.min(count, draw.to - draw.from))
      expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
      expect(drawn.filter((block) => block < draw.from || block >= draw.to)).toEqual([])
      expect(drawn).toEqual(expect.arrayContaining(draw.required))
    }),
  )
})

test('selects the same blocks for the same seed and other blocks for another seed', () => {
  const draw = { count: 20, required: [7], from: 0, to: 1_000_000_000 }
  expect(sampleBlocks({ ...draw, seed: 1 })).toEqual(sampleBlocks({ ...draw, seed: 1 }))
  expect(sampleBlocks({ ...draw, seed: 1 })).not.toEqual(sampleBlocks({ ...draw, seed: 2 }))
})

test('samples the whole range uniformly', () => {
  const drawn = sampleBlocks({ count: 4_000, required: [], from: 0, to: 100_000, seed: 5 })
  const quarters = [0, 1, 2, 3].map((at) => drawn.filter((block) => Math.floor(block / 25_000) === at).length)
  for (const count of quarters) expect(Math.abs(count - 1_000)).toBeLessThan(120)
})
