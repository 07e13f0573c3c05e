import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SmallestKeys } from '../../../src/export/fees/fee-resolver.ts'

test('keeps the values with the smallest keys, in the order of the keys', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat()), fc.integer({ min: 1, max: 20 }), (keys, size) => {
      const kept = new SmallestKeys<string>(size)
      for (const key of keys) kept.add(key, `value ${key}`)
      const expected = [...keys].sort((a, b) => a - b).slice(0, size)
      expect(kept.values()).toEqual(expected.map((key) => `value ${key}`))
    }),
  )
})
