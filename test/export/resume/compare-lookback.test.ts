import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../src/checkpoint/checkpoint.ts'
import { hasLookbackChanged } from '../../../src/export/resume/compare-lookback.ts'

const WALLET = `0x${'a'.repeat(40)}`
const lookback = { from: 0, to: 100 }
const listings = new Map([[WALLET, lookback]])

const pageWith = (more: string) => {
  const native = `"blockNumber":"7","blockTimestamp":1700000000,"blockIndex":0,"txHash":"0x${'b'.repeat(64)}"`
  return Buffer.from(`{"transactions":[{"nativeTransaction":{${native}},"more":${more}}]}`)
}

/** A checkpoint with one page of an earlier run, and the page that the current run read instead. */
function checkpointOf(before: Buffer, after: Buffer): Checkpoint {
  const record = (offset: number) => ({
    wallet: WALLET,
    location: { offset, bytes: 0, start: 0 },
    blocks: { min: 7, max: 7 },
    validBefore: Number.POSITIVE_INFINITY,
  })
  const checkpoint = {
    rereadPages: () => ({ before: [record(0)], after: [record(1)] }),
    read: async ({ offset }: { offset: number }) => (offset === 0 ? before : after),
  }
  return checkpoint as unknown as Checkpoint
}

const nested = (levels: number, innermost: string) => '{"a":'.repeat(levels) + innermost + '}'.repeat(levels)

test.for([1, 90])('facts are compared at a depth of %i levels', async (levels) => {
  const [was, is] = [pageWith(nested(levels, '1')), pageWith(nested(levels, '2'))]
  expect(await hasLookbackChanged(checkpointOf(was, was), listings, lookback)).toBe(false)
  expect(await hasLookbackChanged(checkpointOf(was, is), listings, lookback)).toBe(true)
})

test('changed names and metadata are not compared', async () => {
  const [was, is] = [pageWith('{"name":"a","b":1}'), pageWith('{"name":"é","metadata":{"c":2},"b":1}')]
  expect(await hasLookbackChanged(checkpointOf(was, is), listings, lookback)).toBe(false)
})
