import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/checkpoint/checkpoint.ts'
import { inspectCheckpoint } from '../../src/checkpoint/inspect-checkpoint.ts'
import { openCheckpoint, removeCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { NO_END } from '../../src/core/model/model.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { CLOSED, listed, NOW, OPEN, open, page } from './open.ts'

test('pages and remaining blocks survive reopening', async () => {
  const folder = tempFolder()
  const first = await open(folder)
  expect(first.resumed).toBe(false)
  await first.addPage('0xa', page(10, 40))
  await first.addPage('0xb', page(10, 100, { items: 0 }))
  await first.close()
  const second = await open(folder)
  expect(second.resumed).toBe(true)
  expect(second.remaining('0xa')).toEqual([{ from: 40, to: 100 }])
  expect(second.remaining('0xb')).toEqual([])
  expect(second.remaining('0xc')).toEqual([{ from: 10, to: 100 }])
  const [record, ...others] = second.records(listed('0xa', '0xb'))
  expect(others).toEqual([])
  expect(record).toMatchObject({ wallet: '0xa', blocks: { min: 10, max: 39 }, items: 1 })
  expect((await second.read(record?.location ?? { offset: 0, bytes: 0 })).toString()).toBe('{"from":10}')
  await second.close()
})

test('records have the number of items without a valid position, also after reopening', async () => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage('0xa', page(10, 40, { items: 3, bad: 2 }))
  await first.addPage('0xa', page(40, 50))
  const badCounts = ({ records }: Checkpoint) => records(listed('0xa')).map(({ bad }) => bad)
  expect(badCounts(first)).toEqual([2, 0])
  await first.close()
  const second = await open(folder)
  expect(badCounts(second)).toEqual([2, 0])
  await second.close()
})

test('returns the records of the given listings only', async () => {
  const checkpoint = await open(tempFolder())
  await checkpoint.addPage('0xa', page(10, 40))
  await checkpoint.addPage('0xb', page(10, 40))
  expect(checkpoint.records(listed('0xb')).map(({ wallet }) => wallet)).toEqual(['0xb'])
  await checkpoint.close()
})

test('remaining blocks are those that no page covers, whatever the order and overlap of pages', async () => {
  const range = fc.tuple(fc.integer({ min: 10, max: 100 }), fc.integer({ min: 10, max: 100 }))
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 8 }), async (ranges) => {
      const folder = tempFolder()
      const checkpoint = await open(folder)
      for (const [from, to] of ranges) await checkpoint.addPage('0xa', page(from, to, { items: 0 }))
      const blocks = Array.from({ length: 90 }, (_, at) => 10 + at)
      const left = blocks.filter((block) => !ranges.some(([from, to]) => block >= from && block < to))
      const remaining = checkpoint
        .remaining('0xa')
        .flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at))
      expect(remaining).toEqual(left)
      await checkpoint.close()
      const progress = await inspectCheckpoint(folder, CLOSED)
      expect(progress.remaining('0xa')).toEqual(checkpoint.remaining('0xa'))
    }),
    { numRuns: 30 },
  )
})

test.for([
  { field: 'chain', changed: { ...CLOSED, chain: '2' }, words: 'chain was 1 and is 2' },
  { field: 'startBlock', changed: { ...CLOSED, startBlock: 11 }, words: 'startBlock was 10 and is 11' },
  { field: 'endBlock', changed: { ...CLOSED, endBlock: null }, words: 'endBlock was 100 and is the head' },
  { field: 'finalityMs', changed: { ...CLOSED, finalityMs: 5 }, words: 'finality was 0s and is 5ms' },
])('refuses a checkpoint with another $field and leaves it unchanged', async ({ changed, words }) => {
  const folder = tempFolder()
  const checkpoint = await open(folder)
  await checkpoint.addPage('0xa', page(10, 40))
  await checkpoint.close()
  const before = readFileSync(join(folder, 'pages.log'))
  for (const openOrInspect of [open, inspectCheckpoint]) {
    await expect(openOrInspect(folder, changed)).rejects.toMatchObject({
      code: 'OUTPUT_CHANGED',
      failure: { exit: 2 },
      message: expect.stringContaining(words),
    })
  }
  expect(readFileSync(join(folder, 'pages.log'))).toEqual(before)
})

test('a job of another chain replaces a checkpoint without pages', async () => {
  const folder = tempFolder()
  await (await open(folder)).close()
  const other = { ...CLOSED, chain: '2' }
  expect(await inspectCheckpoint(folder, other)).toMatchObject({ hasRun: false, pages: 0 })
  const checkpoint = await open(folder, other)
  expect([checkpoint.resumed, checkpoint.remaining('0xa')]).toEqual([false, [{ from: 10, to: 100 }]])
  await checkpoint.close()
  expect(await inspectCheckpoint(folder, other)).toMatchObject({ hasRun: true })
})

test('the refusal of a finished export does not mention unfinished runs', async () => {
  const folder = tempFolder()
  const checkpoint = await open(folder, OPEN)
  await checkpoint.addPage('0xa', page(10, 40))
  await checkpoint.finish({ from: 10, to: 40, seen: {} })
  await checkpoint.close()
  await expect(open(folder, CLOSED)).rejects.toMatchObject({
    message: expect.stringContaining('contains an export of another job: endBlock was the head and is 100'),
    fix: 'Choose another --output, or start over with --fresh.',
  })
})

const ETHERSCAN = { ...OPEN, finalityMs: 600_000, api: 'etherscan' } as const

test.for([
  {
    job: 'an API left out',
    changed: { finalityMs: 0 },
    words: 'job: service.api was etherscan and is data-api',
  },
  {
    job: 'a finality besides',
    changed: { finalityMs: 5_000 },
    words: 'job: finality was 600s and is 5s, service.api',
  },
])('refuses unfinished pages of an explorer for a job with $job', async ({ changed, words }) => {
  const folder = tempFolder()
  const checkpoint = await open(folder, ETHERSCAN)
  await checkpoint.addPage('0xa', page(10, 40))
  await checkpoint.close()
  await expect(open(folder, { ...OPEN, ...changed })).rejects.toMatchObject({
    message: expect.stringContaining(words),
  })
})

test('if only the API differs, the fix names the API of the output and what --fresh would discard', async () => {
  const folder = tempFolder()
  const checkpoint = await open(folder, ETHERSCAN)
  await checkpoint.addPage('0xa', page(10, 40))
  await checkpoint.close()
  await expect(open(folder, { ...OPEN, finalityMs: 0 })).rejects.toMatchObject({
    fix: 'The output was read with service.api: etherscan. Set that in the job, or add --api etherscan. --fresh would discard what was read.',
  })
  await expect(open(folder, { ...OPEN, finalityMs: 0, chain: '2' })).rejects.toMatchObject({
    fix: expect.stringContaining('another output'),
  })
})

test('the cutoff is pinned at the start and does not change when the run is resumed', async () => {
  const folder = tempFolder()
  const first = await open(folder, OPEN)
  expect(first.cutoffMs).toBe(NOW - 500)
  await first.close()
  const second = await open(folder, OPEN, NOW + 60_000)
  expect(second.cutoffMs).toBe(NOW - 500)
  await second.close()
})

test('with an endBlock there is no cutoff, resumed or not', async () => {
  const folder = tempFolder()
  for (const time of [NOW, NOW + 1]) {
    const checkpoint = await open(folder, CLOSED, time)
    expect(checkpoint.cutoffMs).toBe(Number.POSITIVE_INFINITY)
    expect(await checkpoint.pinEndBlock()).toBe(100)
    await checkpoint.close()
  }
})

test('the end is one past the head and does not change when the run is resumed', async () => {
  const folder = tempFolder()
  const first = await open(folder, OPEN)
  await first.addPage('0xa', page(10, NO_END, { head: 70 }))
  await first.addPage('0xb', page(10, NO_END, { head: 50 }))
  expect(first.head()).toBe(70)
  expect(await first.pinEndBlock()).toBe(71)
  expect([first.remaining('0xa'), first.remaining('0xb')]).toEqual([[], []])
  await first.close()
  const second = await open(folder, OPEN)
  await second.addPage('0xc', page(10, NO_END, { head: 90 }))
  expect(await second.pinEndBlock()).toBe(71)
  await second.close()
})

test('without any transaction the end is the start block', async () => {
  const checkpoint = await open(tempFolder(), OPEN)
  await checkpoint.addPage('0xa', page(10, NO_END, { items: 0 }))
  expect(await checkpoint.pinEndBlock()).toBe(10)
  await checkpoint.close()
})

test('wallets that an earlier process read are read again up to the end', async () => {
  const folder = tempFolder()
  const wallets = Array.from({ length: 200 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
  const first = await open(folder, OPEN)
  for (const wallet of wallets) await first.addPage(wallet, page(10, NO_END, { head: 50 }))
  await first.close()
  const second = await open(folder, OPEN)
  await second.addPage('0xnew', page(10, NO_END, { head: 70 }))
  expect(await second.pinEndBlock()).toBe(71)
  for (const wallet of wallets) expect(second.remaining(wallet)).toEqual([{ from: 50, to: 71 }])
  expect(second.remaining('0xnew')).toEqual([])
  await second.addPage(wallets[0] ?? '', page(50, 71))
  await second.close()
  const damage: unknown[] = []
  const third = await openCheckpoint({ folder, identity: OPEN, now: NOW, onDamage: (of) => damage.push(of) })
  expect(damage).toEqual([])
  expect(await third.pinEndBlock()).toBe(71)
  expect(third.remaining(wallets[0] ?? '')).toEqual([])
  expect(third.remaining(wallets[199] ?? '')).toEqual([{ from: 50, to: 71 }])
  await third.close()
})

test('inspecting returns the number of pages and items without beginning a run', async () => {
  const folder = tempFolder()
  expect(await inspectCheckpoint(folder, CLOSED)).toMatchObject({ hasRun: false, pages: 0, items: 0 })
  expect(existsSync(join(folder, 'pages.log'))).toBe(false)
  const checkpoint = await open(folder)
  await checkpoint.addPage('0xa', page(10, 40, { items: 3 }))
  await checkpoint.addPage('0xa', page(40, 100, { items: 0 }))
  await checkpoint.close()
  expect(await inspectCheckpoint(folder, CLOSED)).toMatchObject({ hasRun: true, pages: 2, items: 3 })
})

test('after a checkpoint is removed, a run starts over', async () => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage('0xa', page(10, 100))
  await first.close()
  await removeCheckpoint(folder)
  await removeCheckpoint(folder)
  const second = await open(folder, { ...CLOSED, chain: '2' })
  expect(second.resumed).toBe(false)
  expect(second.remaining('0xa')).toEqual([{ from: 10, to: 100 }])
  await second.close()
})
