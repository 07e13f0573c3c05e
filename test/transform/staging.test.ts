import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/checkpoint/checkpoint.ts'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { BLOCKS } from '../../src/core/model/listings.ts'
import { fixedFees } from '../../src/export/fees/fee-resolver.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { readPage } from '../../src/sources/data-api/pages/page.ts'
import type { FeeSource } from '../../src/transform/fees.ts'
import type { PageLocation } from '../../src/transform/merge/page-items.ts'
import type { StagedPage } from '../../src/transform/staged/stage-page.ts'
import { createStaging } from '../../src/transform/staging.ts'
import type { PendingPage, WritePool } from '../../src/transform/threads/pool.ts'
import { listed } from '../checkpoint/open.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, itemAt } from './pages-file.ts'

const END = 3_000
const LIMITS = { range: { from: 0, to: END }, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

const LISTED = { fees: fixedFees({ from: 'listing' }), folder: '' }

/** A pool that records its tasks. Pages that its thread reads get index offsets from 1,001 on. */
function recordingPool({ reads }: { reads: boolean }) {
  const staged: PageLocation[][] = []
  let [read, flushed] = [0, 0]
  const made = (offset: number): StagedPage => ({
    index: { thread: 0, offset, bytes: 0 },
    transactions: 1,
    rows: { transactions: 1 },
    openFees: 0,
    firstOpenFee: undefined,
  })
  const pool: WritePool = {
    expectBytes: () => {},
    readPage: ({ body, limits }): PendingPage | undefined => {
      if (!reads) return undefined
      read += 1
      return { page: Promise.resolve(readPage(body, limits)), staged: Promise.resolve(made(1_000 + read)) }
    },
    readAnswer: () => undefined,
    run: (async ({ pages }: { pages: readonly PageLocation[] }) => {
      staged.push([...pages])
      return pages.map(({ offset }) => made(offset))
    }) as unknown as WritePool['run'],
    flush: async () => {
      flushed += 1
    },
    setFees: () => {},
    close: async () => {},
  }
  return { pool, staged, flushed: () => flushed }
}

const bodyOf = (block: number) => Buffer.from(JSON.stringify({ transactions: [itemAt(block)] }))

function openIn(folder: string, kind: 'blocks' | undefined = undefined): Promise<Checkpoint> {
  const identity = { ...(kind && { kind }), chain: '1', startBlock: 0, endBlock: END, finalityMs: 0 }
  return openCheckpoint({ folder, identity, now: 0, onDamage: () => {} })
}

/** Reads and stores pages of a wallet with one block each. */
async function receive(
  checkpoint: Checkpoint,
  staging: ReturnType<typeof createStaging>,
  blocks: readonly number[],
) {
  for (const block of blocks) {
    const page = await staging.openPageReader(A).read(bodyOf(block), LIMITS)
    const covered = { from: block, to: block + 1 }
    const { offset } = await checkpoint.addPage(A, { ...page, covered })
    staging.onPageStored({ body: page.body, offset })
  }
}

test.for([
  { reads: true, again: 0 },
  { reads: false, again: 3 },
])(
  'stages stored pages only if no thread has read them (read by a thread: $reads)',
  async ({ reads, again }) => {
    const checkpoint = await openIn(tempFolder())
    const { pool, staged, flushed } = recordingPool({ reads })
    const reported: StagedPage[] = []
    const onStaged = (page: StagedPage) => reported.push(page)
    const staging = createStaging({
      ...LISTED,
      checkpoint,
      listings: listed(A),
      from: 0,
      pool,
      onStaged,
      source: dataApi,
    })
    await receive(checkpoint, staging, [1, 2, 3])
    expect(staged.flat()).toEqual([])
    const pages = await staging.finish({ from: 0, to: END })
    expect(staged.flat()).toHaveLength(again)
    const offsets = checkpoint.records(listed(A)).map(({ location }) => location.offset)
    expect(pages.map(({ offset }) => offset)).toEqual(offsets)
    expect(pages.map(({ index }) => index.offset)).toEqual(reads ? [1_001, 1_002, 1_003] : offsets)
    expect([reported.length, flushed()]).toEqual([3, 1])
    await checkpoint.close()
  },
)

test('stages the pages of an unfinished run immediately, and each of them once', async () => {
  const folder = tempFolder()
  const first = await openIn(folder)
  await receive(
    first,
    createStaging({
      ...LISTED,
      checkpoint: first,
      listings: listed(A),
      from: 0,
      pool: recordingPool({ reads: false }).pool,
      onStaged: () => {},
      source: dataApi,
    }),
    [1, 2],
  )
  await first.close()
  const checkpoint = await openIn(folder)
  const { pool, staged } = recordingPool({ reads: true })
  const staging = createStaging({
    ...LISTED,
    checkpoint,
    listings: listed(A),
    from: 2,
    pool,
    onStaged: () => {},
    source: dataApi,
  })
  expect(staged.flat().map(({ keyRange }) => keyRange?.first.block)).toEqual([2])
  await receive(checkpoint, staging, [3])
  expect(await staging.finish({ from: 2, to: END })).toHaveLength(2)
  expect(staged.flat()).toHaveLength(1)
  await checkpoint.close()
})

test('stages stored pages in tasks of a megabyte', async () => {
  const checkpoint = await openIn(tempFolder())
  const { pool, staged } = recordingPool({ reads: false })
  const staging = createStaging({
    ...LISTED,
    checkpoint,
    listings: listed(A),
    from: 0,
    pool,
    onStaged: () => {},
    source: dataApi,
  })
  for (let block = 0; block < 7; block += 1) {
    const body = Buffer.alloc(400_000, 32)
    const covered = { from: block, to: block + 1 }
    const page = { body, items: 1, bad: 0, head: undefined, blocks: { min: block, max: block } }
    await checkpoint.addPage(A, { ...page, covered })
  }
  await staging.finish({ from: 0, to: END })
  expect(staged.map((task) => task.length)).toEqual([3, 3, 1])
  await checkpoint.close()
})

test('a page that cannot be staged rejects finish, but nothing before', async () => {
  const checkpoint = await openIn(tempFolder())
  const { pool } = recordingPool({ reads: true })
  const failingReadPage: WritePool['readPage'] = ({ body, limits }) => ({
    page: Promise.resolve(readPage(body, limits)),
    staged: Promise.reject(new Error('the disk is full')),
  })
  const failing = { ...pool, readPage: failingReadPage }
  const staging = createStaging({
    ...LISTED,
    checkpoint,
    listings: listed(A),
    from: 0,
    pool: failing,
    onStaged: () => {},
    source: dataApi,
  })
  await receive(checkpoint, staging, [1, 2])
  await new Promise((resolve) => setImmediate(resolve))
  await expect(staging.finish({ from: 0, to: END })).rejects.toThrow('the disk is full')
  await checkpoint.close()
})

test('stages rows of block pages while later blocks are requested, and each block once', async () => {
  const checkpoint = await openIn(tempFolder(), 'blocks')
  const { pool, staged } = recordingPool({ reads: true })
  const staging = createStaging({
    ...LISTED,
    checkpoint,
    listings: listed(BLOCKS),
    from: 0,
    pool,
    onStaged: () => {},
    source: dataApi,
  })
  const body = Buffer.from(`{"transactions":["${'x'.repeat(5_000)}"]}`)
  for (let at = 0; at < END; at += 1) {
    // One block in ten arrives late, one in a hundred is empty, and one is missing.
    const block = at % 10 === 0 ? at + 1 : at % 10 === 1 ? at - 1 : at
    if (block === 700) await checkpoint.addMissing(block)
    else {
      const items = block % 100 === 7 ? 0 : 1
      const page = { body: items === 0 ? Buffer.alloc(0) : body, items, bad: 0, head: undefined }
      const covered = { from: block, to: block + 1 }
      const { offset } = await checkpoint.addPage(BLOCKS, {
        ...page,
        blocks: { min: block, max: block },
        covered,
      })
      staging.onPageStored({ body: page.body, offset })
    }
  }
  const early = staged.length
  expect(early).toBeGreaterThan(8)
  const pages = await staging.finish({ from: 0, to: END })
  const records = checkpoint.records(listed(BLOCKS))
  const stagedLocations = staged.flat().map(({ offset, bytes }) => ({ offset, bytes }))
  expect(stagedLocations).toEqual(records.map(({ location: { offset, bytes } }) => ({ offset, bytes })))
  expect(pages).toHaveLength(records.length)
  expect(records.length).toBeLessThan(80)
  await checkpoint.close()
})

test('a coalesced record that grew after an interruption is staged again completely', async () => {
  const folder = tempFolder()
  const add = (checkpoint: Checkpoint, block: number) => {
    const page = {
      body: bodyOf(block),
      items: 1,
      bad: 0,
      head: undefined,
      blocks: { min: block, max: block },
    }
    return checkpoint.addPage(BLOCKS, { ...page, covered: { from: block, to: block + 1 } })
  }
  const first = await openIn(folder, 'blocks')
  await add(first, 0)
  await first.close()
  const checkpoint = await openIn(folder, 'blocks')
  const { pool, staged } = recordingPool({ reads: false })
  const staging = createStaging({
    ...LISTED,
    checkpoint,
    listings: listed(BLOCKS),
    from: 0,
    pool,
    onStaged: () => {},
    source: dataApi,
  })
  await add(checkpoint, 1)
  const [location] = await staging.finish({ from: 0, to: END })
  const whole = checkpoint.records(listed(BLOCKS))[0]?.location
  expect(
    staged
      .flat()
      .map(({ offset, bytes }) => ({ offset, bytes }))
      .at(-1),
  ).toEqual({ offset: whole?.offset, bytes: whole?.bytes })
  expect(staged.flat().map(({ bytes }) => bytes < (location?.bytes ?? 0))).toEqual([true, false])
  await checkpoint.close()
})

test('stages a page again if the prices became known while a thread read it', async () => {
  const checkpoint = await openIn(tempFolder())
  const known: FeeSource = { from: 'effective listing' }
  let current: FeeSource = { from: 'undecided' }
  const fees = { ...fixedFees(known), current: () => current }
  const { pool, staged } = recordingPool({ reads: true })
  const openPage = { openFees: 1, firstOpenFee: undefined }
  const readPage: WritePool['readPage'] = (task) => {
    const pending = pool.readPage(task) as PendingPage
    return { ...pending, staged: pending.staged.then((page) => ({ ...page, ...openPage })) }
  }
  const options = {
    checkpoint,
    fees,
    folder: '',
    listings: listed(A),
    from: 0,
    onStaged: () => {},
    source: dataApi,
  }
  const staging = createStaging({ ...options, pool: { ...pool, readPage } })
  const reading = staging.openPageReader(A).read(bodyOf(1), LIMITS)
  current = known
  await receive(checkpoint, staging, [2])
  const page = await reading
  const { offset } = await checkpoint.addPage(A, { ...page, covered: { from: 1, to: 2 } })
  staging.onPageStored({ body: page.body, offset })
  await staging.finish({ from: 0, to: END })
  expect(staged.flat().map((one) => one.offset)).toEqual([offset])
  await checkpoint.close()
})
