import { expect, test } from 'vitest'
import type { Spool } from '../../../src/checkpoint/checkpoint.ts'
import { hasBorderChanged } from '../../../src/export/resume/compare-lookback.ts'

const WALLET = `0x${'a'.repeat(40)}`
const border = { from: 0, to: 100 }
const listings = new Map([[WALLET, border]])

const pageWith = (more: string) => {
  const native = `"blockNumber":"7","blockTimestamp":1700000000,"blockIndex":0,"txHash":"0x${'b'.repeat(64)}"`
  return Buffer.from(`{"transactions":[{"nativeTransaction":{${native}},"more":${more}}]}`)
}

/** A spool that holds one page of an earlier night, and what the present one read instead. */
function spoolOf(before: Buffer, after: Buffer): Spool {
  const frame = (offset: number) => ({
    wallet: WALLET,
    place: { offset, bytes: 0, start: 0 },
    blocks: { min: 7, max: 7 },
    until: Number.POSITIVE_INFINITY,
  })
  const spool = {
    readAgain: () => ({ before: [frame(0)], after: [frame(1)] }),
    read: async ({ offset }: { offset: number }) => (offset === 0 ? before : after),
  }
  return spool as unknown as Spool
}

const nested = (levels: number, inmost: string) => '{"a":'.repeat(levels) + inmost + '}'.repeat(levels)

test.for([1, 90])('facts %i levels deep are compared to the last of them', async (levels) => {
  const [was, is] = [pageWith(nested(levels, '1')), pageWith(nested(levels, '2'))]
  expect(await hasBorderChanged(spoolOf(was, was), listings, border)).toBe(false)
  expect(await hasBorderChanged(spoolOf(was, is), listings, border)).toBe(true)
})

test('names and metadata that a service tells otherwise are no facts', async () => {
  const [was, is] = [pageWith('{"name":"a","b":1}'), pageWith('{"name":"é","metadata":{"c":2},"b":1}')]
  expect(await hasBorderChanged(spoolOf(was, is), listings, border)).toBe(false)
})
