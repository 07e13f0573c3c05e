import { expect, test } from 'vitest'
import { fuzzAll } from './fuzz-all.ts'

const INPUTS = 1_000

test('no input of any kind causes an error without a code, or a BUG', async () => {
  const counts = Object.values(await fuzzAll({ inputs: INPUTS, seed: 1 }))
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(INPUTS)
  expect(counts.length).toBeGreaterThan(20)
})
