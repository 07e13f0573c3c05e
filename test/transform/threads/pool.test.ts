import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { threadId, type Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Format } from '../../../src/core/model/model.ts'
import { tableByName } from '../../../src/core/table/index.ts'
import { type FileFormat, writeTable } from '../../../src/files/write-table.ts'
import { readPage } from '../../../src/sources/data-api/pages/page.ts'
import { readFingerprints } from '../../../src/transform/merge/fingerprints.ts'
import type { PageLocation } from '../../../src/transform/merge/page-source.ts'
import type { StagedPageLocation } from '../../../src/transform/staged/staged-source.ts'
import { openWritePool as openHere, type WritePool } from '../../../src/transform/threads/pool.ts'
import type { WriteContext, WriteTask } from '../../../src/transform/threads/task.ts'
import type { BatchRows } from '../../../src/transform/write-batch.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { A, B, itemAt, slicesAt, storePages, textOf, writeContext } from '../pages-file.ts'

/** Threads need the built program. */
const built = new URL('../../../dist/transform/threads/pool.js', import.meta.url).href
const { openWritePool } = (await import(/* @vite-ignore */ built)) as { openWritePool: typeof openHere }

const LARGE = 10_000_000
const END = 40
const MANY = 100

const most = Math.min(4, availableParallelism())
let threads: Worker[] = []
const note = (worker: Worker) => threads.push(worker)
beforeEach(() => {
  threads = []
  process.on('worker', note)
})
afterEach(() => {
  process.off('worker', note)
})
/** A thread is told of in the turn after it was started. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const left = () => threads.filter(({ threadId }) => threadId !== -1)

type Pages = { pages: PageLocation[]; context: WriteContext; end: number }

/** A folder with as many pages of each of two wallets, over the same blocks. */
function pagesIn(given: Partial<WriteContext> = {}, pages = 4, end = END): Pages {
  const folder = tempFolder()
  const blocks = Array.from({ length: end }, (_, block) => block)
  const each = end / pages
  const stored = [A, B].flatMap((wallet) =>
    Array.from({ length: pages }, (_, at) => ({
      wallet,
      transactions: blocks.slice(at * each, (at + 1) * each).map((block) => itemAt(block)),
    })),
  )
  return { pages: storePages(folder, stored), context: writeContext(folder, given), end }
}

const task = (place: PageLocation): WriteTask & { kind: 'stage' } => ({ kind: 'stage', pages: [place] })

/** Has the rows of all pages made, each in a task of its own. */
const stageAll = async (pool: WritePool, pages: readonly PageLocation[], bytes = LARGE) => {
  const staged = await Promise.all(pages.map((place) => pool.run(task(place), bytes)))
  return pages.map((place, at): StagedPageLocation => ({ ...place, index: staged[at]?.[0]?.index as never }))
}

/** Has the rows of pages made and put in order, in as many slices. */
async function export_(pool: WritePool, { pages, end }: Pages, { slices: batches = 4, bytes = LARGE } = {}) {
  const staged = await stageAll(pool, pages, bytes)
  await pool.flush()
  const cuts = Array.from({ length: batches - 1 }, (_, at) => ((at + 1) * end) / batches)
  const tasks = slicesAt(cuts, { pages: staged, end }).map((batch) => ({ kind: 'batch' as const, batch }))
  return Promise.all(tasks.map((one) => pool.run(one, bytes)))
}

/** What a slice holds, without where. */
function contentOf({ chunks, ...rest }: BatchRows) {
  const texts = [...chunks].map(([name, all]) => [name, textOf(all)])
  return { ...rest, hashes: [...readFingerprints(rest.hashes)], texts }
}

test('small tasks are done here and start no thread', async () => {
  const pages = pagesIn()
  const pool = openWritePool(pages.context)
  const rows = await export_(pool, pages, { bytes: 10_000 })
  expect(rows.map(({ transactions }) => transactions)).toEqual([10, 10, 10, 10])
  await pool.close()
  await nextTurn()
  expect(threads).toEqual([])
})

test.for([
  { bytes: 999_999, started: 0 },
  { bytes: 1_000_000, started: 1 },
])('$bytes bytes of pages start $started threads', async ({ bytes, started }) => {
  const pool = openWritePool(pagesIn().context)
  pool.expectBytes(bytes)
  await nextTurn()
  expect(threads).toHaveLength(started)
  await pool.close()
})

test('threads give the same slices as this one, and end at the close', async () => {
  const [pages, other] = [pagesIn(), pagesIn()]
  const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
  const [rows, expected] = [await export_(pool, pages), await export_(here, other)]
  expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
  expect(threads.length).toBeGreaterThan(0)
  await pool.close()
  expect(left()).toEqual([])
})

test.for([1, 10, MANY].flatMap((many) => (['csv', 'parquet'] as const).map((format) => ({ many, format }))))(
  '$many pages and slices for $format are the same from threads as from here',
  async ({ many, format }) => {
    const make = (given: { format: Format }) => pagesIn(given, many, many)
    const [pages, other] = [make({ format }), make({ format })]
    const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
    pool.expectBytes(LARGE)
    const rows = await export_(pool, pages, { slices: many })
    const expected = await export_(here, other, { slices: many, bytes: 1 })
    expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
    const files = new Set(rows.flatMap(({ chunks }) => chunks.get('ledger')?.map(({ path }) => path) ?? []))
    expect(files.has(join(pages.context.folder, `ledger-${threadId}.lines`))).toBe(false)
    expect(files.size).toBeLessThanOrEqual(most)
    await pool.close()
  },
)

test('what pages are expected to ask for starts a thread before it is asked for', async () => {
  const { context } = pagesIn()
  const pool = openWritePool(context)
  pool.expectBytes(LARGE / 100)
  await nextTurn()
  expect(threads).toHaveLength(0)
  pool.expectBytes(LARGE)
  await nextTurn()
  expect(threads).toHaveLength(1)
  await pool.close()
  expect(left()).toEqual([])
})

test('tasks are done here in the order in which they were asked for', async () => {
  const { pages, context } = pagesIn({}, 10)
  const pool = openHere(context)
  const made: number[] = []
  await Promise.all(pages.map((place, at) => pool.run(task(place), 1).then(() => made.push(at))))
  expect(made).toEqual(pages.map((_, at) => at))
  await pool.close()
})

test('closing gives up what nobody has begun', async () => {
  const { pages, context } = pagesIn({}, MANY, MANY)
  const pool = openWritePool(context)
  const running = Promise.allSettled(pages.map((place) => pool.run(task(place), LARGE)))
  await nextTurn()
  await pool.close()
  const ended = (await running).map(({ status }) => status)
  expect(ended).toContain('rejected')
  expect(left()).toEqual([])
})

test('what threads have staged makes the same CSV files', async () => {
  const files: FileFormat = { format: 'csv', compression: 'gzip', maxRowsPerFile: 15, escapeFormulas: true }
  const [pages, other] = [pagesIn(), pagesIn()]
  const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
  const table = tableByName('transactions')
  const assemble = async (rows: readonly BatchRows[], { folder }: WriteContext) => {
    const chunks = rows.flatMap((batch) => batch.chunks.get('transactions') ?? [])
    const parts = await writeTable({ ...files, folder, table, range: { from: 0, to: END }, chunks })
    return parts.map(({ staged: _staged, ...part }) => part)
  }
  const rows = await export_(pool, pages)
  const expected = await export_(here, other, { bytes: 1 })
  await Promise.all([pool.close(), here.close()])
  const parts = await assemble(rows, pages.context)
  expect(parts.map((part) => part.rows)).toEqual([15, 15, 10])
  expect(parts).toEqual(await assemble(expected, other.context))
  expect(threads.length).toBeGreaterThan(0)
})

test('many jobs share few threads; those without one are done here, or take one that is free again', async () => {
  const jobs = Array.from({ length: most + 2 }, () => pagesIn())
  const pools = jobs.map(({ context }) => openWritePool(context))
  const rows = await Promise.all(jobs.map((pages, at) => export_(pools[at] as WritePool, pages)))
  expect(rows.flat().map((batch) => batch.transactions)).toEqual(jobs.flatMap(() => [10, 10, 10, 10]))
  expect(threads).toHaveLength(most)
  await pools[0]?.close()
  const last = jobs.at(-1)?.pages[0] as PageLocation
  expect(await pools.at(-1)?.run(task(last), LARGE)).toMatchObject([{ transactions: 10 }])
  expect(threads).toHaveLength(most + 1)
  await Promise.all(pools.map((pool) => pool.close()))
  expect(left()).toEqual([])
})

test('what waits to be done here goes on in a thread that becomes free meanwhile', async () => {
  const busy = Array.from({ length: most }, () => openWritePool(pagesIn().context))
  for (const pool of busy) pool.expectBytes(LARGE)
  await nextTurn()
  expect(threads).toHaveLength(most)
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const many = Array.from({ length: 200 }, () => pages).flat()
  const staged = Promise.all(many.map((place) => pool.run(task(place), LARGE)))
  await Promise.all(busy.map((one) => one.close()))
  pool.expectBytes(LARGE)
  await nextTurn()
  expect(threads.length).toBeGreaterThan(most)
  expect(await staged).toHaveLength(many.length)
  await pool.close()
})

test.for([
  { where: 'here', bytes: 1 },
  { where: 'in a thread', bytes: LARGE },
])('a task that fails $where rejects with its own code', async ({ bytes }) => {
  const { pages, context } = pagesIn()
  const pool = openWritePool({ ...context, pagesFile: join(context.folder, 'missing') })
  const failing = pool.run(task(pages[0] as PageLocation), bytes)
  await expect(failing).rejects.toMatchObject({
    ...{ name: 'ExportError', code: 'OUTPUT_FAILED', failure: { exit: 7 } },
    message: expect.stringContaining('missing'),
    fix: expect.stringContaining('Check the path'),
  })
  expect(threads.length > 0).toBe(bytes === LARGE)
  await pool.close()
})

test('a thread whose task failed takes the next', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const missing = { ...(pages[0] as PageLocation), offset: LARGE }
  const ended = await Promise.allSettled(
    [missing, missing, missing, ...pages.slice(0, 4)].map((place) => pool.run(task(place), LARGE)),
  )
  expect(ended.map(({ status }) => status)).toEqual([
    ...['rejected', 'rejected', 'rejected'],
    ...['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  ])
  await pool.close()
})

test('closing while tasks are under way rejects them and leaves no thread', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const running = Promise.allSettled(pages.map((place) => pool.run(task(place), LARGE)))
  await pool.close()
  for (const ended of await running)
    expect(ended).toMatchObject({ status: 'rejected', reason: { message: 'the write pool was closed' } })
  expect(threads.length).toBeGreaterThan(0)
  expect(left()).toEqual([])
})

test.for([{ bytes: 1 }, { bytes: LARGE }])(
  'a closed pool takes no task of $bytes bytes',
  async ({ bytes }) => {
    const { pages, context } = pagesIn()
    const pool = openWritePool(context)
    await pool.close()
    await expect(pool.run(task(pages[0] as PageLocation), bytes)).rejects.toThrow('the write pool was closed')
    expect(threads).toEqual([])
  },
)

test('closing waits for what is under way in this thread', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const running = pool.run(task(pages[0] as PageLocation), 1)
  await nextTurn()
  await pool.close()
  expect(readdirSync(context.folder)).toContain(`ledger-${threadId}.lines`)
  expect(await running).toMatchObject([{ transactions: 10 }])
})

test('a thread that breaks rejects every task instead of hanging', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const starting = once(process, 'worker') as Promise<[Worker]>
  const running = Promise.allSettled([...pages, ...pages].map((place) => pool.run(task(place), LARGE)))
  const [broken] = await starting
  await broken.terminate()
  const messages = (await running).map((ended) => (ended.status === 'rejected' ? ended.reason.message : ''))
  expect(messages).toContain('a writing thread ended early')
  await expect(pool.run(task(pages[0] as PageLocation), 1)).rejects.toMatchObject({ code: 'BUG' })
  await expect(pool.flush()).rejects.toMatchObject({ code: 'BUG' })
  expect(() => pool.readPage(pageTask())).toThrow('a writing thread ended early')
  await pool.close()
  expect(left()).toEqual([])
})

const LIMITS = { range: { from: 0, to: END }, cutMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

const pageTask = (transactions: readonly unknown[] = [itemAt(1), itemAt(2)]) => ({
  wallet: A,
  body: Buffer.from(JSON.stringify({ nextPageToken: 'é', transactions, padding: 'x'.repeat(10_000) })),
  limits: LIMITS,
})

/** Opens a pool with a thread that has started. */
async function withThread(context: WriteContext) {
  const pool = openWritePool(context)
  pool.expectBytes(LARGE)
  await pool.run({ kind: 'flush' }, LARGE)
  return pool
}

test('there is no thread to read a page before one has started', async () => {
  const pool = openWritePool(pagesIn().context)
  expect(pool.readPage(pageTask())).toBeUndefined()
  pool.expectBytes(LARGE)
  expect(pool.readPage(pageTask())).toBeUndefined()
  await pool.close()
})

test('a page that a thread reads is what reading it here gives, and its rows are those of its place', async () => {
  const [pages, other] = [pagesIn(), pagesIn()]
  const pool = await withThread(pages.context)
  const { body, ...asked } = pageTask([itemAt(7), itemAt(9), null])
  const expected = readPage(Buffer.from(body), LIMITS)
  const reading = pool.readPage({ ...asked, body: Buffer.from(body) })
  expect(await reading?.page).toEqual(expected)
  const { index, ...counted } = (await reading?.staged) ?? { index: undefined }
  expect(counted).toMatchObject({ transactions: 2, rows: { transactions: 2, erc20_transfers: 2 } })
  await pool.flush()
  const [place] = storePages(pages.context.folder, [
    { wallet: A, transactions: [itemAt(7), itemAt(9), null] },
  ])
  const batch = {
    range: { from: 0, to: END },
    pages: [{ ...(place as PageLocation), index: index as never }],
  }
  const rows = await pool.run({ kind: 'batch', batch }, 1)
  const [stored] = storePages(other.context.folder, [
    { wallet: A, transactions: [itemAt(7), itemAt(9), null] },
  ])
  const here = openHere(other.context)
  const [expectedRows] = await export_(here, { ...other, pages: [stored as PageLocation] }, { slices: 1 })
  expect(contentOf(rows)).toEqual(contentOf(expectedRows as BatchRows))
  await Promise.all([pool.close(), here.close()])
})

test.for([
  { what: 'no JSON', body: '{"transactions":[', message: 'the page is not JSON' },
  {
    what: 'outside what was asked',
    body: JSON.stringify({ transactions: [itemAt(99)] }),
    message: 'outside',
  },
])('a page that is $what is refused by a thread as here, and the next is read', async ({ body, message }) => {
  const pool = await withThread(pagesIn().context)
  const refused = pool.readPage({ ...pageTask(), body: Buffer.from(body) })
  refused?.staged.catch(() => undefined)
  await expect(refused?.page).rejects.toMatchObject({
    code: 'PAGE_MALFORMED',
    message: expect.stringContaining(message),
  })
  expect((await pool.readPage(pageTask())?.page)?.items).toBe(2)
  await pool.close()
})

test('many pages at once are shared among the threads that there may be', async () => {
  const pool = await withThread(pagesIn().context)
  const read = () => Promise.all(Array.from({ length: 20 }, () => pool.readPage(pageTask())?.page))
  expect((await read()).map((page) => page?.items)).toEqual(Array.from({ length: 20 }, () => 2))
  expect(threads.length).toBe(Math.min(2, most))
  await pool.close()
  expect(left()).toEqual([])
})

test('closing rejects pages that are being read', async () => {
  const pool = await withThread(pagesIn().context)
  const readings = Array.from({ length: 20 }, () => pool.readPage(pageTask()))
  const ended = Promise.allSettled(readings.flatMap((one) => [one?.page, one?.staged]))
  await pool.close()
  expect((await ended).map(({ status }) => status)).toContain('rejected')
  expect(left()).toEqual([])
})
