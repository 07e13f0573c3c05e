import { expect, test } from 'vitest'
import { fuzzAll } from '../fuzz/fuzz-all.ts'

const inputs = Number(process.env.SOAK_INPUTS ?? 100_000)
const MAX_MEMORY_MB = 700
const seed = Number(process.env.SOAK_SEED ?? 1)

test('no input causes an error outside the error table', { timeout: 86_400_000 }, async () => {
  const counts = await fuzzAll({ inputs, seed })
  console.table(counts)
  console.log(`${Object.values(counts).reduce((sum, count) => sum + count, 0)} inputs`)
  const peakMb = process.resourceUsage().maxRSS / 1024
  console.log(`peak memory: ${peakMb.toFixed(0)} MB`)
  expect(peakMb).toBeLessThan(MAX_MEMORY_MB)
})
