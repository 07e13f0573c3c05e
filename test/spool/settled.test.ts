import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockRange } from '../../src/core/model.ts'
import { NO_END } from '../../src/core/model.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { CLOSED, listed, OPEN, open, page } from './open.ts'

const BOTH = listed('0xa', '0xb')
const blocksOf = (ranges: readonly BlockRange[]) =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at))

test('blocks are settled once every wallet has nothing left in them', async () => {
  const spool = await open(tempFolder())
  expect(spool.settled(BOTH)).toEqual([])
  await spool.addPage('0xa', page(10, 60))
  expect(spool.settled(BOTH)).toEqual([])
  expect(spool.settled(listed('0xa'))).toEqual([{ from: 10, to: 60 }])
  await spool.addPage('0xb', page(10, 20))
  await spool.addPage('0xb', page(30, 100, { items: 0 }))
  expect(spool.settled(BOTH)).toEqual([
    { from: 10, to: 20 },
    { from: 30, to: 60 },
  ])
  await spool.close()
})

const covered = fc.record({
  wallet: fc.constantFrom('0xa', '0xb', '0xc'),
  from: fc.integer({ min: 10, max: 100 }),
  to: fc.integer({ min: 10, max: 100 }),
})

test('settled are the blocks that no wallet has left, and only grow', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(covered, { maxLength: 12 }), async (pages) => {
      const spool = await open(tempFolder())
      let before: number[] = []
      for (const { wallet, from, to } of pages) {
        await spool.addPage(wallet, page(from, to, { items: 0 }))
        const left = new Set([...BOTH.keys()].flatMap((asked) => blocksOf(spool.remaining(asked))))
        const settled = blocksOf(spool.settled(BOTH))
        expect(settled).toEqual(blocksOf([{ from: 10, to: 100 }]).filter((block) => !left.has(block)))
        expect(settled).toEqual(expect.arrayContaining(before))
        before = settled
      }
      await spool.close()
    }),
    { numRuns: 30 },
  )
})

test('a run with an end goes on with what was settled before', async () => {
  const folder = tempFolder()
  const first = await open(folder, CLOSED)
  await first.addPage('0xa', page(10, 60))
  await first.close()
  const second = await open(folder, CLOSED)
  expect(second.settled(listed('0xa'))).toEqual([{ from: 10, to: 60 }])
  await second.close()
})

test('without an end the newest blocks are settled first', async () => {
  const spool = await open(tempFolder(), OPEN)
  await spool.addPage('0xa', page(50, NO_END, { head: 70 }))
  expect(spool.settled(BOTH)).toEqual([])
  await spool.addPage('0xb', page(40, NO_END, { head: 60 }))
  expect(spool.settled(BOTH)).toEqual([{ from: 50, to: NO_END }])
  await spool.close()
})

test('nothing is settled in an interrupted run until its end is', async () => {
  const folder = tempFolder()
  const first = await open(folder, OPEN)
  await first.addPage('0xa', page(10, NO_END, { head: 50 }))
  await first.close()
  const second = await open(folder, OPEN)
  await second.addPage('0xb', page(10, NO_END, { head: 70 }))
  expect(second.settled(BOTH)).toEqual([])
  await second.settleEnd()
  expect(second.remaining('0xa')).toEqual([{ from: 50, to: 71 }])
  expect(second.settled(BOTH)).toEqual([{ from: 10, to: 50 }])
  await second.addPage('0xa', page(50, 71))
  expect(second.settled(BOTH)).toEqual([{ from: 10, to: 71 }])
  await second.close()
})

test('no block beyond a kept end is settled, whoever comes later', async () => {
  const folder = tempFolder()
  const first = await open(folder, OPEN)
  await first.addPage('0xa', page(10, NO_END, { head: 70 }))
  expect(await first.settleEnd()).toBe(71)
  await first.close()
  const second = await open(folder, OPEN)
  await second.addPage('0xb', page(10, NO_END, { head: 90 }))
  expect(second.settled(BOTH)).toEqual([{ from: 10, to: 71 }])
  await second.close()
})
