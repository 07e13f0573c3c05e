import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../src/checkpoint/checkpoint.ts'
import { hasLookbackChanged } from '../../../src/export/resume/compare-lookback.ts'

const WALLET = `0x${'a'.repeat(40)}`
const border = { from: 0, to: 100 }
const listings = new Map([[WALLET, border]])

const pageWith = (more: string) => {
  const native = `"blockNumber":"7","blockTimestamp":1700000000,"blockIndex":0,"txHash":"0x${'b'.repeat(64)}"`
  return Buffer.from(`{"transactions":[{"nativeTransaction":{${native}},"more":${more}}]}`)
}

/** A spool that holds one page of an earlier night, and what the present one read instead. */
function spoolOf(before: Buffer, after: Buffer): Checkpoint {
  const frame = (offset: number) => ({
    wallet: WALLET,
    location: { offset, bytes: 0, start: 0 },
    blocks: { min: 7, max: 7 },
    validBefore: Number.POSITIVE_INFINITY,
  })
  const checkpoint = {
    readAgain: () => ({ before: [frame(0)], after: [frame(1)] }),
    read: async ({ offset }: { offset: number }) => (offset === 0 ? before : after),
  }
  return checkpoint as unknown as Checkpoint
}

const nested = (levels: number, inmost: string) => '{"a":'.repeat(levels) + inmost + '}'.repeat(levels)

test.for([1, 90])('facts %i levels deep are compared to the last of them', async (levels) => {
  const [was, is] = [pageWith(nested(levels, '1')), pageWith(nested(levels, '2'))]
  expect(await hasLookbackChanged(spoolOf(was, was), listings, border)).toBe(false)
  expect(await hasLookbackChanged(spoolOf(was, is), listings, border)).toBe(true)
})

test('names and metadata that a service tells otherwise are no facts', async () => {
  const [was, is] = [pageWith('{"name":"a","b":1}'), pageWith('{"name":"é","metadata":{"c":2},"b":1}')]
  expect(await hasLookbackChanged(spoolOf(was, is), listings, border)).toBe(false)
})
