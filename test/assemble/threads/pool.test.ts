import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { threadId, type Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openWritePool as openHere } from '../../../src/assemble/threads/pool.ts'
import type { WriteTask } from '../../../src/assemble/threads/task.ts'
import type { Slice, SliceContext, SliceRows } from '../../../src/assemble/write-slice.ts'
import type { Format } from '../../../src/core/model.ts'
import { TABLE_NAMES, type TableName } from '../../../src/core/table/index.ts'
import { readFingerprints } from '../../../src/merge/fingerprints.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { A, B, itemAt, sliceContext, slicesAt, storePages, textOf } from '../pages-file.ts'

/** Threads need the built program. */
const built = new URL('../../../dist/assemble/threads/pool.js', import.meta.url).href
const { openWritePool } = (await import(/* @vite-ignore */ built)) as { openWritePool: typeof openHere }

const LARGE = 10_000_000
const END = 40
/** So many slices that wait are worth a hand, whatever the format. */
const MANY = 100

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

/** A folder with pages of two wallets, cut into slices. */
function slicesIn(
  given: Partial<SliceContext> = {},
  cuts = [10, 20, 30],
  end = END,
): { slices: Slice[]; context: SliceContext } {
  const folder = tempFolder()
  const blocks = Array.from({ length: end }, (_, block) => block)
  const pages = [A, B].map((wallet) => ({ wallet, transactions: blocks.map((block) => itemAt(block)) }))
  const slices = slicesAt(cuts, { places: storePages(folder, pages), end })
  return { slices, context: sliceContext(folder, given) }
}

/** As many slices, of a block each. */
function slicesOfOne(many: number, format: Format = 'csv') {
  const cuts = Array.from({ length: many - 1 }, (_, at) => at + 1)
  return slicesIn({ format }, cuts, many)
}

const task = (slice: Slice): WriteTask & { kind: 'slice' } => ({ kind: 'slice', slice })

/** What a slice holds, without where. */
function contentOf({ chunks, ...rest }: SliceRows) {
  const texts = [...chunks].map(([name, chunk]) => [name, textOf(chunk)])
  return { ...rest, hashes: [...readFingerprints(rest.hashes)], texts }
}

test('small tasks are done here and start no thread', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), 200_000)))
  expect(rows.map(({ transactions }) => transactions)).toEqual([10, 10, 10, 10])
  await pool.close()
  await nextTurn()
  expect(threads).toEqual([])
})

test('threads give the same slices as this one, and end at the close', async () => {
  const { slices, context } = slicesIn()
  const other = slicesIn()
  const [pool, here] = [openWritePool(context), openHere(other.context)]
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  const expected = await Promise.all(other.slices.map((slice) => here.run(task(slice), LARGE)))
  expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
  expect(threads.length).toBeGreaterThan(0)
  await pool.close()
  expect(left()).toEqual([])
})

test.for([
  { many: MANY, format: 'csv', isAllRead: false, isShared: false },
  { many: MANY / 4, format: 'csv', isAllRead: true, isShared: true },
  { many: MANY / 10, format: 'csv', isAllRead: true, isShared: false },
  { many: MANY, format: 'parquet', isAllRead: true, isShared: true },
  { many: MANY / 2, format: 'parquet', isAllRead: true, isShared: false },
] as const)(
  'of $many slices for $format, all read: $isAllRead, this thread makes some: $isShared',
  async (given) => {
    const [{ slices, context }, other] = [
      slicesOfOne(given.many, given.format),
      slicesOfOne(given.many, given.format),
    ]
    const [pool, here] = [openWritePool(context), openHere(other.context)]
    pool.expect(LARGE)
    if (given.isAllRead) await pool.expectNoMore()
    const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
    const expected = await Promise.all(other.slices.map((slice) => here.run(task(slice), 1)))
    expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
    const files = new Set(rows.map(({ chunks }) => chunks.get('ledger')?.path))
    expect(files.has(join(context.folder, `ledger-${threadId}.lines`))).toBe(given.isShared)
    expect(files.size).toBe(given.isShared ? 2 : 1)
    await pool.close()
  },
)

test('closing while this thread helps gives up what nobody has begun', async () => {
  const { slices, context } = slicesOfOne(MANY)
  const pool = openWritePool(context)
  pool.expect(LARGE)
  await pool.expectNoMore()
  const running = Promise.allSettled(slices.map((slice) => pool.run(task(slice), LARGE)))
  await nextTurn()
  await pool.close()
  const ended = (await running).map(({ status }) => status)
  expect(ended).toContain('rejected')
  expect(left()).toEqual([])
})

test('a thread that has sorted ends, and another makes what follows', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const places = slices.flatMap((slice) => slice.places)
  expect(await pool.run({ kind: 'condense', places }, LARGE)).toEqual(places)
  await nextTurn()
  expect(threads).toHaveLength(1)
  expect(left()).toEqual([])
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  expect(rows.map(({ transactions }) => transactions)).toEqual([10, 10, 10, 10])
  expect(threads).toHaveLength(2)
  await pool.close()
})

test('a thread makes the same CSV files as this one', async () => {
  const { slices, context } = slicesIn({ format: 'csv', compression: 'gzip', maxRowsPerFile: 15 })
  const [pool, here] = [openWritePool(context), openHere(context)]
  const rows = await Promise.all(slices.map((slice) => here.run(task(slice), 1)))
  const chunks = rows.flatMap((slice) => slice.chunks.get('transactions') ?? [])
  const aside = join(context.folder, 'aside')
  mkdirSync(aside)
  const kept = chunks.map((chunk, at) => ({ ...chunk, path: join(aside, String(at)) }))
  for (const [at, { path }] of chunks.entries()) copyFileSync(path, kept[at]?.path ?? '')
  const whole = { kind: 'table', name: 'transactions', range: { from: 0, to: END } } as const
  const parts = await pool.run({ ...whole, chunks }, LARGE)
  expect(parts.map((part) => part.rows)).toEqual([15, 15, 10])
  expect(parts).toEqual(await here.run({ ...whole, chunks: kept }, 1))
  expect(threads.length).toBeGreaterThan(0)
  await pool.close()
})

test('many jobs share few threads; those without one are done here, or take one that is free again', async () => {
  const most = Math.min(4, availableParallelism())
  const jobs = Array.from({ length: most + 2 }, () => slicesIn())
  const pools = jobs.map(({ context }) => openWritePool(context))
  const runAll = () =>
    Promise.all(
      jobs.map(({ slices }, at) => Promise.all(slices.map((slice) => pools[at]?.run(task(slice), LARGE)))),
    )
  const rows = await runAll()
  expect(rows.flat().map((slice) => slice?.transactions)).toEqual(jobs.flatMap(() => [10, 10, 10, 10]))
  expect(threads).toHaveLength(most)
  await pools[0]?.close()
  const last = jobs.at(-1)?.slices[0] as Slice
  expect(await pools.at(-1)?.run(task(last), LARGE)).toMatchObject({ transactions: 10 })
  expect(threads).toHaveLength(most + 1)
  await Promise.all(pools.map((pool) => pool.close()))
  expect(left()).toEqual([])
})

test('tables are shared out between a thread and this one, about half of their bytes each', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  const posted = vi.spyOn(threads[0] as Worker, 'postMessage')
  const range = { from: 0, to: END }
  const sizes = { ledger: 70, transactions: 40, wallet_transactions: 30, erc20_transfers: 20 } as const
  const made = Object.entries(sizes).map(([table, bytes]) => {
    const name = table as keyof typeof sizes
    const chunks = rows.flatMap((slice) => slice.chunks.get(name) ?? [])
    return pool.run({ kind: 'table', name, range, chunks }, bytes)
  })
  const parts = (await Promise.all(made)).flat()
  expect(parts.map((part) => part.rows)).toEqual(
    Object.keys(sizes).map((name) => rows.reduce((sum, { chunks }) => sum + rowsIn(chunks, name), 0)),
  )
  const names = posted.mock.calls.map(([told]) => (told as WriteTask & { kind: 'table' }).name)
  expect(names).toEqual(['ledger', 'erc20_transfers'])
  await pool.close()
})

const rowsIn = (chunks: SliceRows['chunks'], name: string) => chunks.get(name as TableName)?.rows ?? 0

test('Parquet files are made here, once the threads have ended', async () => {
  const { slices, context } = slicesIn({ format: 'parquet', compression: 'zstd', maxRowsPerFile: 15 })
  const pool = openWritePool(context)
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  expect(threads.length).toBeGreaterThan(0)
  const chunks = rows.flatMap((slice) => slice.chunks.get('transactions') ?? [])
  const range = { from: 0, to: END }
  const parts = await pool.run({ kind: 'table', name: 'transactions', range, chunks }, LARGE)
  expect(parts.map((part) => part.rows)).toEqual([15, 15, 10])
  expect(left()).toEqual([])
  await pool.close()
})

test('Parquet files that wait are not begun any more after the close', async () => {
  const { slices, context } = slicesIn({ format: 'parquet', compression: 'zstd' })
  const pool = openWritePool(context)
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), 1)))
  const range = { from: 0, to: END }
  const tables = TABLE_NAMES.map((name) => {
    const chunks = rows.flatMap((slice) => slice.chunks.get(name) ?? []).filter((chunk) => chunk.rows > 0)
    return pool.run({ kind: 'table', name, range, chunks }, 1)
  })
  const ended = Promise.allSettled(tables)
  await pool.close()
  const files = readdirSync(context.folder)
  expect((await ended).map(({ status }) => status)).toContain('rejected')
  expect(readdirSync(context.folder)).toEqual(files)
})

test.for([
  { where: 'here', bytes: 1 },
  { where: 'in a thread', bytes: LARGE },
])('a task that fails $where rejects with its own code', async ({ bytes }) => {
  const { slices, context } = slicesIn()
  const pool = openWritePool({ ...context, pagesFile: join(context.folder, 'missing') })
  const failing = pool.run(task(slices[0] as Slice), bytes)
  await expect(failing).rejects.toMatchObject({
    ...{ name: 'ExportError', code: 'OUTPUT_FAILED', failure: { exit: 7 } },
    message: expect.stringContaining('missing'),
    fix: expect.stringContaining('free space'),
  })
  expect(threads.length > 0).toBe(bytes === LARGE)
  await pool.close()
})

test('a thread whose task failed takes the next', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const missing = { ...(slices[0] as Slice), places: [{ wallet: null, offset: 0, bytes: 1, span: null }] }
  const ended = await Promise.allSettled(
    [missing, missing, missing, ...slices].map((slice) => pool.run(task(slice), LARGE)),
  )
  expect(ended.map(({ status }) => status)).toEqual([
    ...['rejected', 'rejected', 'rejected'],
    ...['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'],
  ])
  await pool.close()
})

test('closing while tasks are under way rejects them and leaves no thread', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const running = Promise.allSettled(slices.map((slice) => pool.run(task(slice), LARGE)))
  await pool.close()
  for (const ended of await running)
    expect(ended).toMatchObject({ status: 'rejected', reason: { message: 'the writing was given up' } })
  expect(threads.length).toBeGreaterThan(0)
  expect(left()).toEqual([])
})

test.for([{ bytes: 1 }, { bytes: LARGE }])(
  'a closed pool takes no task of $bytes bytes',
  async ({ bytes }) => {
    const { slices, context } = slicesIn()
    const pool = openWritePool(context)
    await pool.close()
    await expect(pool.run(task(slices[0] as Slice), bytes)).rejects.toThrow('the writing was given up')
    expect(threads).toEqual([])
  },
)

test('closing waits for what is under way in this thread', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const running = pool.run(task(slices[0] as Slice), 1)
  await pool.close()
  expect(readdirSync(context.folder)).toContain(`ledger-${threadId}.lines`)
  expect(await running).toMatchObject({ transactions: 10 })
})

test('a thread that breaks rejects every task instead of hanging', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const starting = once(process, 'worker') as Promise<[Worker]>
  const running = Promise.allSettled([...slices, ...slices].map((slice) => pool.run(task(slice), LARGE)))
  const [broken] = await starting
  await broken.terminate()
  const messages = (await running).map((ended) => (ended.status === 'rejected' ? ended.reason.message : ''))
  expect(messages).toContain('a writing thread ended early')
  await expect(pool.run(task(slices[0] as Slice), 1)).rejects.toMatchObject({ code: 'BUG' })
  await pool.close()
  expect(left()).toEqual([])
})
