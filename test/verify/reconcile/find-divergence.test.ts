import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type DivergenceSearch,
  findDivergence,
  type LedgerStep,
  sumAt,
} from '../../../src/verify/reconcile/find-divergence.ts'

/** A service whose balance exceeds the ledger's sum by `excess` from a block on. */
function search(steps: readonly LedgerStep[], { from, end, excess = 5n }: Service, maxRequests = 40) {
  const received: number[] = []
  const request: DivergenceSearch = {
    steps,
    equalAt: -1,
    differentAt: end,
    maxRequests,
    excessAt: async (block, sum) => {
      received.push(block)
      const balance = sumAt(steps, block) + (block >= from ? excess : 0n)
      return balance - sum
    },
  }
  return { found: findDivergence(request, excess), received }
}
type Service = { from: number; end: number; excess?: bigint }

const stepsAt = (blocks: readonly number[]): LedgerStep[] =>
  blocks.map((block, at) => ({ block, sum: BigInt(at + 1) }))

test('finds the block of a transaction of the wallet', async () => {
  const { found } = search(stepsAt([10, 20, 30, 40]), { from: 30, end: 100 })
  expect(await found).toEqual({ fromBlock: 30, toBlock: 30, isInOwnBlock: true, excess: 5n })
})

test('finds a block without transactions of the wallet', async () => {
  const { found } = search(stepsAt([10, 20, 30, 40]), { from: 27, end: 100, excess: -3n })
  expect(await found).toEqual({ fromBlock: 27, toBlock: 27, isInOwnBlock: false, excess: -3n })
})

test('finds a block of a wallet without any rows', async () => {
  const { found } = search([], { from: 77, end: 100 })
  expect(await found).toMatchObject({ fromBlock: 77, toBlock: 77, isInOwnBlock: false })
})

test('names a range if the requests do not suffice', async () => {
  const { found, received } = search(stepsAt([10]), { from: 700_000, end: 45_000_000 }, 8)
  const { fromBlock, toBlock, isInOwnBlock } = await found
  expect([received.length, isInOwnBlock]).toEqual([8, false])
  expect(fromBlock).toBeLessThanOrEqual(700_000)
  expect(toBlock).toBeGreaterThanOrEqual(700_000)
  expect(toBlock).toBeLessThan(45_000_000)
})

test('20 requests find the transaction among 200,000 blocks with transactions', async () => {
  const steps = stepsAt(Array.from({ length: 200_000 }, (_, at) => 7 + at * 200))
  const from = 7 + 123_456 * 200
  const { found, received } = search(steps, { from, end: 45_000_000 }, 20)
  expect(await found).toMatchObject({ fromBlock: from, toBlock: from, isInOwnBlock: true })
  expect(received.length).toBeLessThanOrEqual(20)
})

test('finds the first different block wherever it is', async () => {
  const blocks = fc.uniqueArray(fc.nat(200), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(blocks, fc.nat(200), async (unsorted, from) => {
      const steps = stepsAt(unsorted.sort((a, b) => a - b))
      const { found } = search(steps, { from, end: 200 })
      const isInOwnBlock = unsorted.includes(from)
      expect(await found).toEqual({ fromBlock: from, toBlock: from, isInOwnBlock, excess: 5n })
    }),
  )
})
