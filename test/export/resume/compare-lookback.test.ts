import { expect, test } from 'vitest'
import type { Checkpoint } from '../../../src/checkpoint/checkpoint.ts'
import { compareRereads } from '../../../src/export/resume/compare-lookback.ts'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'

const WALLET = `0x${'a'.repeat(40)}`
const lookback = { from: 0, to: 100 }
const listings = new Map([[WALLET, lookback]])

const pageWith = (more: string) => {
  const native = `"blockNumber":"7","blockTimestamp":1700000000,"blockIndex":0,"txHash":"0x${'b'.repeat(64)}"`
  return Buffer.from(`{"transactions":[{"nativeTransaction":{${native}},"more":${more}}]}`)
}

/** A checkpoint with pages of an earlier run, and the pages that the current run read instead. */
function checkpointOf(before: readonly Buffer[], after: readonly Buffer[]): Checkpoint {
  const pages = [...before, ...after]
  const records = pages.map((_, offset) => ({
    wallet: WALLET,
    location: { offset, bytes: 0, start: 0 },
    blocks: { min: 7, max: 7 },
    validBefore: Number.POSITIVE_INFINITY,
  }))
  const checkpoint = {
    rereadPages: () => ({
      from: 0,
      before: records.slice(0, before.length),
      after: records.slice(before.length),
    }),
    reopened: () => [],
    read: async ({ offset }: { offset: number }) => pages[offset],
  }
  return checkpoint as unknown as Checkpoint
}

const nested = (levels: number, innermost: string) => '{"a":'.repeat(levels) + innermost + '}'.repeat(levels)

test.for([1, 90])('on-chain fields are compared at a depth of %i levels', async (levels) => {
  const [was, is] = [pageWith(nested(levels, '1')), pageWith(nested(levels, '2'))]
  expect(
    await compareRereads(checkpointOf([was], [was]), listings, { to: 100, source: dataApi }),
  ).toMatchObject({ changedFrom: undefined })
  expect(
    await compareRereads(checkpointOf([was], [is]), listings, { to: 100, source: dataApi }),
  ).toMatchObject({ changedFrom: 7 })
})

test('changed names and metadata are not compared', async () => {
  const [was, is] = [pageWith('{"name":"a","b":1}'), pageWith('{"name":"é","metadata":{"c":2},"b":1}')]
  expect(
    await compareRereads(checkpointOf([was], [is]), listings, { to: 100, source: dataApi }),
  ).toMatchObject({ changedFrom: undefined })
})

test.for([
  { what: 'an earlier run', before: ['1', '2'], after: ['2'] },
  { what: 'an earlier run, in the other order', before: ['2', '1'], after: ['2'] },
  { what: 'this run', before: ['2'], after: ['1', '2'] },
  { what: 'both runs', before: ['1', '2'], after: ['1', '2'] },
])('a transaction counts as changed if $what received it in two versions', async ({ before, after }) => {
  const pages = (versions: readonly string[]) => versions.map((version) => pageWith(version))
  const checkpoint = checkpointOf(pages(before), pages(after))
  expect(await compareRereads(checkpoint, listings, { to: 100, source: dataApi })).toMatchObject({
    changedFrom: 7,
  })
})

test('a transaction that was received twice in one version is unchanged', async () => {
  const page = pageWith('1')
  expect(
    await compareRereads(checkpointOf([page, page], [page]), listings, { to: 100, source: dataApi }),
  ).toMatchObject({ changedFrom: undefined })
})
