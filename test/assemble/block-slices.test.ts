import { expect, test } from 'vitest'
import { createSlicer } from '../../src/assemble/slicer.ts'
import { BLOCKS } from '../../src/core/listings.ts'
import { openSpool } from '../../src/spool/spool.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { listed } from '../spool/open.ts'
import { recordingPool } from './memory-spool.ts'

const END = 3_000
const identity = { kind: 'blocks' as const, chain: '1', startBlock: 0, endBlock: END, finalityMs: 0 }

test('slices of blocks begin while others are still asked, and cover each block once', async () => {
  const spool = await openSpool({ folder: tempFolder(), identity, now: 0, onDamage: () => {} })
  const { pool, slices } = recordingPool()
  const sortExternally = async (places: readonly unknown[]) => places as never
  const slicer = createSlicer({
    spool,
    listings: listed(BLOCKS),
    from: 0,
    pool,
    sortExternally,
    onRows: () => {},
  })
  const body = Buffer.from(`{"transactions":["${'x'.repeat(5_000)}"]}`)
  for (let at = 0; at < END; at += 1) {
    // One in ten comes late, one in a hundred is empty, one is missing.
    const block = at % 10 === 0 ? at + 1 : at % 10 === 1 ? at - 1 : at
    if (block === 700) await spool.addMissing(block)
    else {
      const items = block % 100 === 7 ? 0 : 1
      const kept = { body: items === 0 ? Buffer.alloc(0) : body, items, bad: 0, head: undefined }
      const covered = { from: block, to: block + 1 }
      await spool.addPage(BLOCKS, { ...kept, blocks: { min: block, max: block }, covered })
    }
    slicer.pageArrived(0)
  }
  const early = slices.length
  await slicer.finish({ from: 0, to: END })
  expect(early).toBeGreaterThan(2)
  const ranges = slices.map(({ range }) => range).sort((a, b) => a.from - b.from)
  expect(ranges[0]?.from).toBe(0)
  expect(ranges.at(-1)?.to).toBe(END)
  for (const [at, { from }] of ranges.entries()) if (at > 0) expect(from).toBe(ranges[at - 1]?.to)
  const places = new Set(slices.flatMap(({ places }) => places.map(({ offset }) => offset)))
  expect(places.size).toBeLessThan(80)
  await spool.close()
})
