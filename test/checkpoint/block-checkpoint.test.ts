import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inspectCheckpoint } from '../../src/checkpoint/inspect-checkpoint.ts'
import { BLOCKS } from '../../src/core/model/listings.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { CLOSED, listed, open as openAny } from './open.ts'

const IDENTITY = { kind: 'blocks' as const, ...CLOSED, startBlock: 0, endBlock: 100_000 }
const LISTING = listed(BLOCKS)
const open = (folder: string) => openAny(folder, IDENTITY)

/** A complete block as it is stored: its pages, or an empty body if it has no items. */
const complete = (block: number, { items = 1, bad = 0, bytes = 0 } = {}) => ({
  body: Buffer.from(items === 0 ? '' : JSON.stringify({ block, filler: 'x'.repeat(bytes) })),
  items,
  bad,
  head: undefined,
  blocks: { min: block, max: block },
  covered: { from: block, to: block + 1 },
})

async function blocksIn(checkpoint: Awaited<ReturnType<typeof open>>): Promise<number[][]> {
  const bodies = checkpoint.records(LISTING).map(({ location }) => checkpoint.read(location))
  return (await Promise.all(bodies)).map((body) =>
    (JSON.parse(body.toString()) as { block: number }[]).map(({ block }) => block),
  )
}

test('neighbouring blocks are coalesced, whatever records lie between them in the log', async () => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage(BLOCKS, complete(3))
  await first.addPage(BLOCKS, complete(2, { items: 0 }))
  await first.addMissing(1)
  await first.close()
  const second = await open(folder)
  await second.addPage(BLOCKS, complete(0, { items: 2, bad: 1 }))
  expect(await blocksIn(second)).toEqual([[3, 0]])
  expect(second.records(LISTING)).toMatchObject([{ blocks: { min: 0, max: 3 }, items: 3, bad: 1 }])
  expect(second.remaining(BLOCKS)).toEqual([{ from: 4, to: 100_000 }])
  await second.close()
})

test('distant blocks and large blocks are not coalesced', async () => {
  const checkpoint = await open(tempFolder())
  await checkpoint.addPage(BLOCKS, complete(99_999))
  await checkpoint.addPage(BLOCKS, complete(0))
  await checkpoint.addPage(BLOCKS, complete(1, { bytes: 200_000 }))
  await checkpoint.addPage(BLOCKS, complete(2, { bytes: 200_000 }))
  expect(await blocksIn(checkpoint)).toEqual([[99_999], [0, 1], [2]])
  await checkpoint.close()
})

test('hundreds of blocks take a few entries and are returned in order of arrival', async () => {
  const order = fc.shuffledSubarray([...Array(300).keys()], { minLength: 300 })
  await fc.assert(
    fc.asyncProperty(order, async (blocks) => {
      const folder = tempFolder()
      const checkpoint = await open(folder)
      for (const block of blocks) await checkpoint.addPage(BLOCKS, complete(block, { bytes: 2_000 }))
      expect((await blocksIn(checkpoint)).flat()).toEqual(blocks)
      expect(checkpoint.records(LISTING).length).toBeLessThan(6)
      await checkpoint.close()
      const again = await open(folder)
      expect(again.records(LISTING)).toEqual(checkpoint.records(LISTING))
      await again.close()
    }),
    { numRuns: 5 },
  )
})

test('missing blocks are stored as ranges until they are reopened', async () => {
  const folder = tempFolder()
  const checkpoint = await open(folder)
  await checkpoint.addPartial(9, { body: Buffer.from('{}'), token: 'next', pages: 1, items: 1, bad: 0 })
  for (const block of [7, 5, 6, 99_999, 9]) await checkpoint.addMissing(block)
  const missing = [
    { from: 5, to: 8 },
    { from: 9, to: 10 },
    { from: 99_999, to: 100_000 },
  ]
  expect(checkpoint.missing()).toEqual(missing)
  await checkpoint.close()
  const again = await open(folder)
  expect(again.missing()).toEqual(missing)
  expect(await again.partial(9)).toBeUndefined()
  expect(again.remaining(BLOCKS)).toEqual([
    { from: 0, to: 5 },
    { from: 8, to: 9 },
    { from: 10, to: 99_999 },
  ])
  expect(await again.reopenMissing()).toBe(true)
  expect(await again.reopenMissing()).toBe(false)
  await again.close()
  const progress = await inspectCheckpoint(folder, IDENTITY)
  expect(progress.remaining(BLOCKS)).toEqual([{ from: 0, to: 100_000 }])
})

test('the first pages of a block are stored until the block is complete', async () => {
  const folder = tempFolder()
  const partial = { body: Buffer.from('{"block":8}'), token: 'next', pages: 1, items: 1, bad: 0 }
  const first = await open(folder)
  await first.addPage(BLOCKS, complete(7))
  await first.addPartial(8, partial)
  expect(await first.partial(7)).toBeUndefined()
  await first.close()
  const second = await open(folder)
  expect(await second.partial(8)).toEqual(partial)
  expect(second.remaining(BLOCKS)[1]).toEqual({ from: 8, to: 100_000 })
  await second.addPage(BLOCKS, complete(8))
  expect(await second.partial(8)).toBeUndefined()
  expect(await blocksIn(second)).toEqual([[7, 8]])
  await second.close()
})

test('a missing block is not remaining, so that its neighbours can be written', async () => {
  const checkpoint = await open(tempFolder())
  await checkpoint.addPage(BLOCKS, complete(0))
  await checkpoint.addMissing(1)
  await checkpoint.addPage(BLOCKS, complete(2))
  expect(checkpoint.remaining(BLOCKS)[0]?.from).toBe(3)
  await checkpoint.close()
})

test.for([
  {
    found: CLOSED,
    expected: { kind: 'blocks' as const, ...CLOSED },
    words: 'kind was wallets and is blocks',
  },
  {
    found: { kind: 'blocks' as const, ...CLOSED },
    expected: CLOSED,
    words: 'kind was blocks and is wallets',
  },
])('rejects a checkpoint if its $words', async ({ found, expected, words }) => {
  const folder = tempFolder()
  const checkpoint = await openAny(folder, found)
  await checkpoint.addPage(BLOCKS, complete(12))
  await checkpoint.close()
  await expect(openAny(folder, expected)).rejects.toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining(words),
  })
})
