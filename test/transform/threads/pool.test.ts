import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { threadId, type Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FormatName } from '../../../src/core/model/model.ts'
import { tableByName } from '../../../src/core/table/index.ts'
import { type FileFormat, writeTable } from '../../../src/files/write-table.ts'
import { readPage } from '../../../src/sources/data-api/pages/page.ts'
import { readFingerprints } from '../../../src/transform/merge/fingerprints.ts'
import type { PageLocation } from '../../../src/transform/merge/page-items.ts'
import type { StagedPageLocation } from '../../../src/transform/staged/read-staged.ts'
import { openWritePool as openHere, type WritePool } from '../../../src/transform/threads/pool.ts'
import type { WriteContext, WriteTask } from '../../../src/transform/threads/task.ts'
import type { BatchRows } from '../../../src/transform/write-batch.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { A, B, batchesAt, itemAt, storePages, textOf, writeContext } from '../pages-file.ts'

/** Worker threads require the compiled program. */
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
/** Node emits `worker` in the turn of the event loop after the thread was started. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const left = () => threads.filter(({ threadId }) => threadId !== -1)

type Pages = { pages: PageLocation[]; context: WriteContext; end: number }

/** A folder with `pages` pages of each of two wallets, over the same blocks. */
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

const task = (page: PageLocation): WriteTask & { kind: 'stage' } => ({ kind: 'stage', pages: [page] })

/** Stages all pages, each in its own task. */
const stageAll = async (pool: WritePool, pages: readonly PageLocation[], bytes = LARGE) => {
  const staged = await Promise.all(pages.map((page) => pool.run(task(page), bytes)))
  return pages.map((page, at): StagedPageLocation => ({ ...page, index: staged[at]?.[0]?.index as never }))
}

/** Stages pages and writes them in the given number of batches. */
async function writeAll(pool: WritePool, { pages, end }: Pages, { batches = 4, bytes = LARGE } = {}) {
  const staged = await stageAll(pool, pages, bytes)
  await pool.flush()
  const cuts = Array.from({ length: batches - 1 }, (_, at) => ((at + 1) * end) / batches)
  const tasks = batchesAt(cuts, { pages: staged, end }).map((batch) => ({ kind: 'batch' as const, batch }))
  return Promise.all(tasks.map((one) => pool.run(one, bytes)))
}

/** The contents of a batch, without locations. */
function contentOf({ chunks, ...rest }: BatchRows) {
  const texts = [...chunks].map(([name, all]) => [name, textOf(all)])
  return { ...rest, hashes: [...readFingerprints(rest.hashes)], texts }
}

test('small tasks run in this thread and start no other', async () => {
  const pages = pagesIn()
  const pool = openWritePool(pages.context)
  const rows = await writeAll(pool, pages, { bytes: 10_000 })
  expect(rows.map(({ transactions }) => transactions)).toEqual([10, 10, 10, 10])
  await pool.close()
  await nextTurn()
  expect(threads).toEqual([])
})

test.for([
  { bytes: 999_999, started: 0 },
  { bytes: 1_000_000, started: 1 },
])('expecting $bytes bytes of pages starts $started threads', async ({ bytes, started }) => {
  const pool = openWritePool(pagesIn().context)
  pool.expectBytes(bytes)
  await nextTurn()
  expect(threads).toHaveLength(started)
  await pool.close()
})

test.for([
  { bytes: 127_000_000, started: 1 },
  { bytes: 128_000_000, started: Math.min(2, most) },
])('tasks that wait start $started threads for $bytes bytes of pages', async ({ bytes, started }) => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  pool.expectBytes(bytes)
  await Promise.all(pages.map((page) => pool.run(task(page), 1)))
  expect(threads).toHaveLength(started)
  await pool.close()
})

test('threads write the same batches as this thread, and end on close', async () => {
  const [pages, other] = [pagesIn(), pagesIn()]
  const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
  const [rows, expected] = [await writeAll(pool, pages), await writeAll(here, other)]
  expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
  expect(threads.length).toBeGreaterThan(0)
  await pool.close()
  expect(left()).toEqual([])
})

test.for([1, 10, MANY].flatMap((many) => (['csv', 'parquet'] as const).map((format) => ({ many, format }))))(
  'threads write the same $many batches of $many pages for $format as this thread',
  async ({ many, format }) => {
    const make = (given: { format: FormatName }) => pagesIn(given, many, many)
    const [pages, other] = [make({ format }), make({ format })]
    const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
    pool.expectBytes(LARGE)
    const rows = await writeAll(pool, pages, { batches: many })
    const expected = await writeAll(here, other, { batches: many, bytes: 1 })
    expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
    const files = new Set(rows.flatMap(({ chunks }) => chunks.get('ledger')?.map(({ path }) => path) ?? []))
    expect(files.has(join(pages.context.folder, `ledger-${threadId}.lines`))).toBe(false)
    expect(files.size).toBeLessThanOrEqual(most)
    await pool.close()
  },
)

test('expected bytes start a thread before the first task', async () => {
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

test('tasks in this thread run in the order in which they were queued', async () => {
  const { pages, context } = pagesIn({}, 10)
  const pool = openHere(context)
  const made: number[] = []
  await Promise.all(pages.map((page, at) => pool.run(task(page), 1).then(() => made.push(at))))
  expect(made).toEqual(pages.map((_, at) => at))
  await pool.close()
})

test('close rejects queued tasks', async () => {
  const { pages, context } = pagesIn({}, MANY, MANY)
  const pool = openWritePool(context)
  const running = Promise.allSettled(pages.map((page) => pool.run(task(page), LARGE)))
  await nextTurn()
  await pool.close()
  const ended = (await running).map(({ status }) => status)
  expect(ended).toContain('rejected')
  expect(left()).toEqual([])
})

test('lines staged by threads produce the same CSV files', async () => {
  const files: FileFormat = { format: 'csv', compression: 'gzip', maxRowsPerFile: 15, escapeFormulas: true }
  const [pages, other] = [pagesIn(), pagesIn()]
  const [pool, here] = [openWritePool(pages.context), openHere(other.context)]
  const table = tableByName('transactions')
  const assemble = async (rows: readonly BatchRows[], { folder }: WriteContext) => {
    const chunks = rows.flatMap((batch) => batch.chunks.get('transactions') ?? [])
    const parts = await writeTable({ ...files, folder, table, range: { from: 0, to: END }, chunks })
    return parts.map(({ staged: _staged, ...part }) => part)
  }
  const rows = await writeAll(pool, pages)
  const expected = await writeAll(here, other, { bytes: 1 })
  await Promise.all([pool.close(), here.close()])
  const parts = await assemble(rows, pages.context)
  expect(parts.map((part) => part.rows)).toEqual([15, 15, 10])
  expect(parts).toEqual(await assemble(expected, other.context))
  expect(threads.length).toBeGreaterThan(0)
})

test('many jobs share few threads; others run in this thread or take one that becomes free', {
  tags: ['long'],
}, async () => {
  const jobs = Array.from({ length: most + 2 }, () => pagesIn())
  const pools = jobs.map(({ context }) => openWritePool(context))
  const rows = await Promise.all(jobs.map((pages, at) => writeAll(pools[at] as WritePool, pages)))
  expect(rows.flat().map((batch) => batch.transactions)).toEqual(jobs.flatMap(() => [10, 10, 10, 10]))
  expect(threads).toHaveLength(most)
  await pools[0]?.close()
  const last = jobs.at(-1)?.pages[0] as PageLocation
  expect(await pools.at(-1)?.run(task(last), LARGE)).toMatchObject([{ transactions: 10 }])
  expect(threads).toHaveLength(most + 1)
  await Promise.all(pools.map((pool) => pool.close()))
  expect(left()).toEqual([])
})

test('tasks queued for this thread move to a thread that becomes available', { tags: ['long'] }, async () => {
  const busy = Array.from({ length: most }, () => openWritePool(pagesIn().context))
  for (const pool of busy) pool.expectBytes(LARGE)
  await nextTurn()
  expect(threads).toHaveLength(most)
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const many = Array.from({ length: 200 }, () => pages).flat()
  const staged = Promise.all(many.map((page) => pool.run(task(page), LARGE)))
  await Promise.all(busy.map((one) => one.close()))
  pool.expectBytes(LARGE)
  await nextTurn()
  expect(threads.length).toBeGreaterThan(most)
  expect(await staged).toHaveLength(many.length)
  await pool.close()
})

test.for([
  { where: 'this thread', bytes: 1 },
  { where: 'another thread', bytes: LARGE },
])('a task that fails in $where rejects with its own error code', async ({ bytes }) => {
  const { pages, context } = pagesIn()
  const pool = openWritePool({ ...context, pagesFile: join(context.folder, 'missing') })
  const failing = pool.run(task(pages[0] as PageLocation), bytes)
  await expect(failing).rejects.toMatchObject({
    name: 'ExportError',
    code: 'OUTPUT_FAILED',
    failure: { exit: 7 },
    message: expect.stringContaining('missing'),
    fix: expect.stringContaining('Check the path'),
  })
  expect(threads.length > 0).toBe(bytes === LARGE)
  await pool.close()
})

test('a thread continues after a failed task', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const missing = { ...(pages[0] as PageLocation), offset: LARGE }
  const ended = await Promise.allSettled(
    [missing, missing, missing, ...pages.slice(0, 4)].map((page) => pool.run(task(page), LARGE)),
  )
  expect(ended.map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  await pool.close()
})

test('close rejects running tasks and leaves no thread', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const running = Promise.allSettled(pages.map((page) => pool.run(task(page), LARGE)))
  await pool.close()
  for (const ended of await running)
    expect(ended).toMatchObject({ status: 'rejected', reason: { message: 'the write pool was closed' } })
  expect(threads.length).toBeGreaterThan(0)
  expect(left()).toEqual([])
})

test.for([{ bytes: 1 }, { bytes: LARGE }])(
  'a closed pool rejects a task of $bytes bytes',
  async ({ bytes }) => {
    const { pages, context } = pagesIn()
    const pool = openWritePool(context)
    await pool.close()
    await expect(pool.run(task(pages[0] as PageLocation), bytes)).rejects.toThrow('the write pool was closed')
    expect(threads).toEqual([])
  },
)

test('close waits for the running task of this thread', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const running = pool.run(task(pages[0] as PageLocation), 1)
  await nextTurn()
  await pool.close()
  expect(readdirSync(context.folder)).toContain(`ledger-${threadId}.lines`)
  expect(await running).toMatchObject([{ transactions: 10 }])
})

test('if a thread exits unexpectedly, every task rejects instead of hanging', async () => {
  const { pages, context } = pagesIn()
  const pool = openWritePool(context)
  const starting = once(process, 'worker') as Promise<[Worker]>
  const running = Promise.allSettled([...pages, ...pages].map((page) => pool.run(task(page), LARGE)))
  const [broken] = await starting
  await broken.terminate()
  const messages = (await running).map((ended) => (ended.status === 'rejected' ? ended.reason.message : ''))
  expect(messages).toContain('a write thread exited unexpectedly')
  await expect(pool.run(task(pages[0] as PageLocation), 1)).rejects.toMatchObject({ code: 'BUG' })
  await expect(pool.flush()).rejects.toMatchObject({ code: 'BUG' })
  expect(() => pool.readPage(pageTask())).toThrow('a write thread exited unexpectedly')
  await pool.close()
  expect(left()).toEqual([])
})

const LIMITS = { range: { from: 0, to: END }, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

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

test('readPage returns undefined without a thread, and waits for one that starts', async () => {
  const pool = openWritePool(pagesIn().context)
  expect(pool.readPage(pageTask())).toBeUndefined()
  pool.expectBytes(LARGE)
  expect(await pool.readPage(pageTask())?.page).toMatchObject({ items: 2 })
  await pool.close()
})

test('a thread reads a page like this thread, and stages the same rows', async () => {
  const [pages, other] = [pagesIn(), pagesIn()]
  const pool = await withThread(pages.context)
  const { body, ...request } = pageTask([itemAt(7), itemAt(9), null])
  const page = readPage(Buffer.from(body), LIMITS)
  const keys = page.keys.map(({ block, hash, timeMs, lastMs, second }) => {
    return { block, hash, timeMs, lastMs, second }
  })
  const reading = pool.readPage({ ...request, body: Buffer.from(body) })
  expect(await reading?.page).toEqual({ ...page, keys })
  const { index, ...counts } = (await reading?.staged) ?? { index: undefined }
  expect(counts).toMatchObject({ transactions: 2, rows: { transactions: 2, erc20_transfers: 2 } })
  await pool.flush()
  const [location] = storePages(pages.context.folder, [
    { wallet: A, transactions: [itemAt(7), itemAt(9), null] },
  ])
  const batch = {
    range: { from: 0, to: END },
    pages: [{ ...(location as PageLocation), index: index as never }],
  }
  const rows = await pool.run({ kind: 'batch', batch }, 1)
  const [stored] = storePages(other.context.folder, [
    { wallet: A, transactions: [itemAt(7), itemAt(9), null] },
  ])
  const here = openHere(other.context)
  const [expectedRows] = await writeAll(here, { ...other, pages: [stored as PageLocation] }, { batches: 1 })
  expect(contentOf(rows)).toEqual(contentOf(expectedRows as BatchRows))
  await Promise.all([pool.close(), here.close()])
})

test.for([
  { what: 'not JSON', body: '{"transactions":[', message: 'the page is not JSON' },
  {
    what: 'outside of the requested range',
    body: JSON.stringify({ transactions: [itemAt(99)] }),
    message: 'outside',
  },
])('a thread rejects a page that is $what and reads the next one', async ({ body, message }) => {
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

test('many concurrent pages are shared among the threads', async () => {
  const pool = await withThread(pagesIn().context)
  pool.expectBytes(128_000_000)
  const read = () => Promise.all(Array.from({ length: 20 }, () => pool.readPage(pageTask())?.page))
  expect((await read()).map((page) => page?.items)).toEqual(Array.from({ length: 20 }, () => 2))
  expect(threads.length).toBe(Math.min(2, most))
  await pool.close()
  expect(left()).toEqual([])
})

test('close rejects pages that are being read', async () => {
  const pool = await withThread(pagesIn().context)
  const readings = Array.from({ length: 20 }, () => pool.readPage(pageTask()))
  const ended = Promise.allSettled(readings.flatMap((one) => [one?.page, one?.staged]))
  await pool.close()
  expect((await ended).map(({ status }) => status)).toContain('rejected')
  expect(left()).toEqual([])
})

test('rejects a task in this thread whose lines cannot be written when its files are closed', async () => {
  const { pages, context } = pagesIn()
  for (const table of context.tables) mkdirSync(join(context.folder, `${table}-${threadId}.lines`))
  const pool = openHere(context)
  const staging = pool.run(task(pages[0] as PageLocation), 1)
  await expect(staging).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  await pool.close()
})
