import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/checkpoint/checkpoint.ts'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { BLOCKS } from '../../src/core/model/listings.ts'
import { readPage } from '../../src/sources/data-api/pages/page.ts'
import type { PageLocation } from '../../src/transform/merge/page-source.ts'
import type { StagedPage } from '../../src/transform/staged/stage-page.ts'
import { createStaging } from '../../src/transform/staging.ts'
import type { PendingPage, WritePool } from '../../src/transform/threads/pool.ts'
import { listed } from '../checkpoint/open.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, itemAt } from './pages-file.ts'

const END = 3_000
const LIMITS = { range: { from: 0, to: END }, cutMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

/** A pool that notes what it is given; a thread of it numbers the pages that it reads, from 1000 on. */
function notingPool({ reads }: { reads: boolean }) {
  const staged: PageLocation[][] = []
  let [read, flushed] = [0, 0]
  const made = (offset: number): StagedPage => ({
    index: { thread: 0, offset, bytes: 0 },
    transactions: 1,
    rows: { transactions: 1 },
  })
  const pool: WritePool = {
    expectBytes: () => {},
    readPage: ({ body, limits }): PendingPage | undefined => {
      if (!reads) return undefined
      read += 1
      return { page: Promise.resolve(readPage(body, limits)), staged: Promise.resolve(made(1_000 + read)) }
    },
    run: (async ({ pages }: { pages: readonly PageLocation[] }) => {
      staged.push([...pages])
      return pages.map(({ offset }) => made(offset))
    }) as unknown as WritePool['run'],
    flush: async () => {
      flushed += 1
    },
    close: async () => {},
  }
  return { pool, staged, flushed: () => flushed }
}

const bodyOf = (block: number) => Buffer.from(JSON.stringify({ transactions: [itemAt(block)] }))

function openIn(folder: string, kind: 'blocks' | undefined = undefined): Promise<Checkpoint> {
  const identity = { ...(kind && { kind }), chain: '1', startBlock: 0, endBlock: END, finalityMs: 0 }
  return openCheckpoint({ folder, identity, now: 0, onDamage: () => {} })
}

/** Has a wallet's pages of one block each arrive. */
async function arrive(
  checkpoint: Checkpoint,
  staging: ReturnType<typeof createStaging>,
  blocks: readonly number[],
) {
  for (const block of blocks) {
    const page = await staging.readPage(A, bodyOf(block), LIMITS)
    const covered = { from: block, to: block + 1 }
    const { offset } = await checkpoint.addPage(A, { ...page, covered })
    staging.onPageStored({ body: page.body, offset })
  }
}

test.for([
  { reads: true, again: 0 },
  { reads: false, again: 3 },
])('pages that a thread has read ($reads) are not parsed again', async ({ reads, again }) => {
  const checkpoint = await openIn(tempFolder())
  const { pool, staged, flushed } = notingPool({ reads })
  const told: StagedPage[] = []
  const onStaged = (page: StagedPage) => told.push(page)
  const staging = createStaging({ checkpoint, listings: listed(A), from: 0, pool, onStaged })
  await arrive(checkpoint, staging, [1, 2, 3])
  expect(staged.flat()).toEqual([])
  const pages = await staging.finish({ from: 0, to: END })
  expect(staged.flat()).toHaveLength(again)
  const offsets = checkpoint.records(listed(A)).map(({ location }) => location.offset)
  expect(pages.map(({ offset }) => offset)).toEqual(offsets)
  expect(pages.map(({ index }) => index.offset)).toEqual(reads ? [1_001, 1_002, 1_003] : offsets)
  expect([told.length, flushed()]).toEqual([3, 1])
  await checkpoint.close()
})

test('pages of an unfinished run are taken up at once, each once', async () => {
  const folder = tempFolder()
  const first = await openIn(folder)
  await arrive(
    first,
    createStaging({
      checkpoint: first,
      listings: listed(A),
      from: 0,
      pool: notingPool({ reads: false }).pool,
      onStaged: () => {},
    }),
    [1, 2],
  )
  await first.close()
  const checkpoint = await openIn(folder)
  const { pool, staged } = notingPool({ reads: true })
  const staging = createStaging({ checkpoint, listings: listed(A), from: 2, pool, onStaged: () => {} })
  expect(staged.flat().map(({ keyRange }) => keyRange?.first.block)).toEqual([2])
  await arrive(checkpoint, staging, [3])
  expect(await staging.finish({ from: 2, to: END })).toHaveLength(2)
  expect(staged.flat()).toHaveLength(1)
  await checkpoint.close()
})

test('pages are taken up in tasks of a megabyte', async () => {
  const checkpoint = await openIn(tempFolder())
  const { pool, staged } = notingPool({ reads: false })
  const staging = createStaging({ checkpoint, listings: listed(A), from: 0, pool, onStaged: () => {} })
  for (let block = 0; block < 7; block += 1) {
    const body = Buffer.alloc(400_000, 32)
    const covered = { from: block, to: block + 1 }
    const kept = { body, items: 1, bad: 0, head: undefined, blocks: { min: block, max: block } }
    await checkpoint.addPage(A, { ...kept, covered })
  }
  await staging.finish({ from: 0, to: END })
  expect(staged.map((task) => task.length)).toEqual([3, 3, 1])
  await checkpoint.close()
})

test('a page that fails fails the finish and nothing before', async () => {
  const checkpoint = await openIn(tempFolder())
  const { pool } = notingPool({ reads: true })
  const readPageBadly: WritePool['readPage'] = ({ body, limits }) => ({
    page: Promise.resolve(readPage(body, limits)),
    staged: Promise.reject(new Error('the disk is full')),
  })
  const failing = { ...pool, readPage: readPageBadly }
  const staging = createStaging({
    checkpoint,
    listings: listed(A),
    from: 0,
    pool: failing,
    onStaged: () => {},
  })
  await arrive(checkpoint, staging, [1, 2])
  await new Promise((resolve) => setImmediate(resolve))
  await expect(staging.finish({ from: 0, to: END })).rejects.toThrow('the disk is full')
  await checkpoint.close()
})

test('rows of blocks are made while others are still asked, each block once', async () => {
  const checkpoint = await openIn(tempFolder(), 'blocks')
  const { pool, staged } = notingPool({ reads: true })
  const staging = createStaging({ checkpoint, listings: listed(BLOCKS), from: 0, pool, onStaged: () => {} })
  const body = Buffer.from(`{"transactions":["${'x'.repeat(5_000)}"]}`)
  for (let at = 0; at < END; at += 1) {
    // One in ten comes late, one in a hundred is empty, one is missing.
    const block = at % 10 === 0 ? at + 1 : at % 10 === 1 ? at - 1 : at
    if (block === 700) await checkpoint.addMissing(block)
    else {
      const items = block % 100 === 7 ? 0 : 1
      const kept = { body: items === 0 ? Buffer.alloc(0) : body, items, bad: 0, head: undefined }
      const covered = { from: block, to: block + 1 }
      const { offset } = await checkpoint.addPage(BLOCKS, {
        ...kept,
        blocks: { min: block, max: block },
        covered,
      })
      staging.onPageStored({ body: kept.body, offset })
    }
  }
  const early = staged.length
  expect(early).toBeGreaterThan(8)
  const pages = await staging.finish({ from: 0, to: END })
  const records = checkpoint.records(listed(BLOCKS))
  const stagedPlaces = staged.flat().map(({ offset, bytes }) => ({ offset, bytes }))
  expect(stagedPlaces).toEqual(records.map(({ location: { offset, bytes } }) => ({ offset, bytes })))
  expect(pages).toHaveLength(records.length)
  expect(records.length).toBeLessThan(80)
  await checkpoint.close()
})

test('a stretch of blocks that grew after an interruption is made again, whole', async () => {
  const folder = tempFolder()
  const add = (checkpoint: Checkpoint, block: number) => {
    const kept = {
      body: bodyOf(block),
      items: 1,
      bad: 0,
      head: undefined,
      blocks: { min: block, max: block },
    }
    return checkpoint.addPage(BLOCKS, { ...kept, covered: { from: block, to: block + 1 } })
  }
  const first = await openIn(folder, 'blocks')
  await add(first, 0)
  await first.close()
  const checkpoint = await openIn(folder, 'blocks')
  const { pool, staged } = notingPool({ reads: false })
  const staging = createStaging({ checkpoint, listings: listed(BLOCKS), from: 0, pool, onStaged: () => {} })
  await add(checkpoint, 1)
  const [place] = await staging.finish({ from: 0, to: END })
  const whole = checkpoint.records(listed(BLOCKS))[0]?.location
  expect(
    staged
      .flat()
      .map(({ offset, bytes }) => ({ offset, bytes }))
      .at(-1),
  ).toEqual({ offset: whole?.offset, bytes: whole?.bytes })
  expect(staged.flat().map(({ bytes }) => bytes < (place?.bytes ?? 0))).toEqual([true, false])
  await checkpoint.close()
})
