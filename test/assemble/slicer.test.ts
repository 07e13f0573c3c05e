import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSlicer, type Slicing } from '../../src/assemble/slicer.ts'
import type { Slice, SliceRows } from '../../src/assemble/write-slice.ts'
import { listed } from '../spool/open.ts'
import { memorySpool, type Received, recordingPool } from './memory-spool.ts'

const END = 1_000

type Run = Partial<Omit<Slicing, 'spool'>> & { received: readonly Received[]; end?: number }

/** Has pages arrive one by one and finishes; tells the slices that were begun, and how many before the finish. */
async function sliced({ received, end = END, ...given }: Run) {
  const spool = memorySpool(END)
  const { pool, slices } = recordingPool()
  const listings = listed(...received.map(({ wallet }) => wallet))
  const told: SliceRows[] = []
  const sortExternally: Slicing['sortExternally'] = async (places) => places
  const slicing = {
    spool,
    listings,
    from: 0,
    pool,
    sortExternally,
    onRows: (rows: SliceRows) => told.push(rows),
    ...given,
  }
  const slicer = createSlicer(slicing)
  for (const page of received) {
    spool.receive(page)
    slicer.pageArrived(0)
  }
  // What fails meanwhile is told by the finish, and no unhandled rejection.
  await new Promise((resolve) => setImmediate(resolve))
  const early = slices.length
  const rows = await Promise.all(await slicer.finish({ from: 0, to: end }))
  return { slices, early, rows, told, frames: spool.frames(listings) }
}

type History = { edges: readonly number[]; bytes: number; isFalling?: boolean }

/** One wallet's pages, oldest or newest first; the last block of each may go on in the next. */
function pagesOf(wallet: string, { edges, bytes, isFalling = false }: History): Received[] {
  const cuts = [0, ...[...edges].sort((a, b) => a - b), END]
  const pages = cuts.slice(1).map((to, at) => {
    const from = cuts[at] ?? 0
    const blocks = isFalling
      ? { min: Math.max(0, from - 1), max: Math.max(0, to - 1) }
      : { min: Math.min(from, END - 1), max: Math.min(to, END - 1) }
    return { wallet, bytes, blocks, covered: { from, to } }
  })
  return isFalling ? pages.reverse() : pages
}

const histories = fc
  .array(
    fc.record({
      edges: fc.array(fc.integer({ min: 1, max: END - 1 }), { maxLength: 60 }),
      bytes: fc.constantFrom(1_000, 300_000, 900_000, 3_000_000),
      isFalling: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((of) => of.map((history, at) => pagesOf(`0x${at}`, history)))

/** Pages of several wallets as they may arrive: each wallet's in their order, the wallets mixed. */
const arrivals = fc.tuple(histories, fc.infiniteStream(fc.nat())).map(([wallets, dice]) => {
  const waiting = wallets.map((pages) => [...pages])
  const received: Received[] = []
  while (waiting.some((pages) => pages.length > 0)) {
    const left = waiting.filter((pages) => pages.length > 0)
    const next = left[(dice.next().value ?? 0) % left.length]?.shift()
    if (next !== undefined) received.push(next)
  }
  return received
})

/** Checks that slices are disjoint and cover all blocks, each with every page that touches it, in order of receipt. */
function expectWhole(slices: readonly Slice[], frames: Awaited<ReturnType<typeof sliced>>['frames']): void {
  const sorted = [...slices].sort((a, b) => a.range.from - b.range.from)
  expect(sorted[0]?.range.from).toBe(0)
  expect(sorted.at(-1)?.range.to).toBe(END)
  for (const [at, { range, places }] of sorted.entries()) {
    expect(range.from).toBeLessThan(range.to)
    if (at > 0) expect(range.from).toBe(sorted[at - 1]?.range.to)
    const touching = frames.filter(
      ({ blocks }) => blocks && blocks.min < range.to && blocks.max >= range.from,
    )
    expect(places.map(({ offset }) => offset)).toEqual(touching.map(({ place }) => place.offset))
  }
}

test('slices cover every block once, with every page that touches them', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, async (received) => {
      const { slices, rows, frames, told } = await sliced({ received })
      expectWhole(slices, frames)
      expect(rows.map(({ range }) => range)).toEqual(
        slices.map(({ range }) => range).sort((a, b) => a.from - b.from),
      )
      expect(told).toHaveLength(slices.length)
    }),
    { numRuns: 200 },
  )
})

const every = (step: number) => Array.from({ length: END / step - 1 }, (_, at) => (at + 1) * step)

test('slices begin while pages still arrive, the next as one ends', async () => {
  const { slices, early, frames } = await sliced({
    received: pagesOf('0xa', { edges: every(5), bytes: 500_000 }),
  })
  expect(early).toBeGreaterThan(10)
  expect(slices).toHaveLength(early)
  expectWhole(slices, frames)
})

test('no slice begins beyond the end, however much is settled there', async () => {
  const received = pagesOf('0xa', { edges: every(100), bytes: 500_000 })
  const { slices, early } = await sliced({ received, end: END / 2 })
  expect(early).toBe(0)
  expect(Math.max(...slices.map(({ range }) => range.to))).toBe(END / 2)
})

test('slices that began with the newest blocks come in chain order', async () => {
  const received = pagesOf('0xa', { edges: every(5), bytes: 500_000, isFalling: true })
  const { slices, early, rows, frames } = await sliced({ received })
  expect(early).toBeGreaterThan(10)
  expect(slices[0]?.range.from).toBeGreaterThan(END / 2)
  expect(rows[0]?.range.from).toBe(0)
  expectWhole(slices, frames)
})

test('few bytes are one slice, made at the end', async () => {
  const { slices, early } = await sliced({ received: pagesOf('0xa', { edges: every(5), bytes: 1_000 }) })
  expect([early, slices.length]).toEqual([0, 1])
})

test('blocks whose pages overlap too much wait to be sorted', async () => {
  const asked: number[] = []
  const wallets = Array.from({ length: 20 }, (_, at) =>
    pagesOf(`0x${at}`, { edges: every(100), bytes: 900_000 }),
  )
  const { slices, early, frames } = await sliced({
    received: wallets.flat(),
    sortExternally: async (places) => {
      asked.push(places.length)
      return places
    },
  })
  expect(early).toBe(0)
  expect(asked).toEqual([200])
  expectWhole(slices, frames)
})

test('a run without pages has one slice without places', async () => {
  const { slices, rows } = await sliced({ received: [] })
  expect(slices).toEqual([{ range: { from: 0, to: END }, places: [] }])
  expect(rows).toHaveLength(1)
})

test('a slice that fails early fails the finish and nothing before', async () => {
  const { pool, slices } = recordingPool()
  let fails = 0
  const run: typeof pool.run = async (task, bytes) => {
    if (task.kind === 'slice' && task.slice.range.from === 0) {
      fails += 1
      throw new Error('the disk is full')
    }
    return pool.run(task, bytes)
  }
  const running = sliced({
    received: pagesOf('0xa', { edges: every(5), bytes: 500_000 }),
    pool: { ...pool, run },
  })
  await expect(running).rejects.toThrow('the disk is full')
  expect(fails).toBe(1)
  expect(slices.length).toBeGreaterThan(10)
})

/** Pages of one wallet, one block each with so many bytes; between two of them `gap` blocks that nobody has read. */
const pagesEach = (count: number, { bytes, gap = 0 }: { bytes: number; gap?: number }): Received[] =>
  Array.from({ length: count }, (_, at) => {
    const from = at * (1 + gap)
    return { wallet: '0xa', bytes, blocks: { min: from, max: from }, covered: { from, to: from + 1 } }
  })

test('a slice ends where 2.5 MB of pages have come together', async () => {
  const { slices } = await sliced({ received: pagesEach(15, { bytes: 500_000 }) })
  expect(slices.map(({ places }) => places.length)).toEqual([5, 5, 5])
})

test.for([
  { pages: 15, bytes: 500_000, slices: 0, what: 'fewer than 16 pages are not looked at' },
  { pages: 16, bytes: 37_000, slices: 0, what: 'less than 0.6 MB waits for more' },
  { pages: 16, bytes: 38_000, slices: 1, what: 'idle writers begin with 0.6 MB' },
])('$what', async ({ pages, bytes, slices }) => {
  const { early } = await sliced({ received: pagesEach(pages, { bytes }) })
  expect(early).toBe(slices)
})

test.for([
  { ranges: 250, begin: true },
  { ranges: 300, begin: false },
])('of $ranges settled stretches with holes between slices begin: $begin', async ({ ranges, begin }) => {
  const [
    first = { wallet: '', bytes: 0, blocks: { min: 0, max: 0 }, covered: { from: 0, to: 0 } },
    ...later
  ] = pagesEach(ranges, { bytes: 1_000, gap: 2 })
  const { early } = await sliced({ received: [...later, { ...first, bytes: 3_000_000 }, ...later] })
  expect(early > 0).toBe(begin)
})

test('slices end with the range, though sorted runs hold what lies beyond it', async () => {
  const runs = every(20).map((block) => ({
    ...{ wallet: null, offset: block, bytes: 1_000_000 },
    span: { first: { block, index: 0, hash: '' }, last: { block: block + 20, index: 0, hash: '' } },
  }))
  const { slices } = await sliced({
    received: pagesOf('0x1', { edges: [], bytes: 3_000_000 }),
    end: END / 2,
    sortExternally: async () => runs,
  })
  expect(slices.length).toBeGreaterThan(2)
  for (const [at, { range }] of slices.entries()) {
    expect(range.from).toBe(slices[at - 1]?.range.to ?? 0)
    expect(range.to).toBeLessThanOrEqual(END / 2)
  }
})
