import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { threadId, type Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openWritePool as openHere } from '../../../src/assemble/threads/pool.ts'
import type { WriteTask } from '../../../src/assemble/threads/task.ts'
import type { Slice, SliceContext, SliceRows } from '../../../src/assemble/write-slice.ts'
import type { Format } from '../../../src/core/model.ts'
import { tableNamed } from '../../../src/core/table/index.ts'
import { readFingerprints } from '../../../src/merge/fingerprints.ts'
import { assembleTable } from '../../../src/write/assemble-table.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { A, B, itemAt, sliceContext, slicesAt, storePages, textOf } from '../pages-file.ts'

/** Threads need the built program. */
const built = new URL('../../../dist/assemble/threads/pool.js', import.meta.url).href
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

test.for([
  { bytes: 999_999, started: 0 },
  { bytes: 1_000_000, started: 1 },
])('$bytes bytes of pages start $started threads', async ({ bytes, started }) => {
  const pool = openWritePool(slicesIn().context)
  pool.expect(bytes)
  await nextTurn()
  expect(threads).toHaveLength(started)
  await pool.close()
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

test.for([1, 10, MANY].flatMap((many) => (['csv', 'parquet'] as const).map((format) => ({ many, format }))))(
  '$many slices for $format are the same from threads as from here',
  async ({ many, format }) => {
    const [{ slices, context }, other] = [slicesOfOne(many, format), slicesOfOne(many, format)]
    const [pool, here] = [openWritePool(context), openHere(other.context)]
    pool.expect(LARGE)
    const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
    const expected = await Promise.all(other.slices.map((slice) => here.run(task(slice), 1)))
    expect(rows.map(contentOf)).toEqual(expected.map(contentOf))
    const files = new Set(rows.map(({ chunks }) => chunks.get('ledger')?.path))
    expect(files.has(join(context.folder, `ledger-${threadId}.lines`))).toBe(false)
    expect(files.size).toBe(Math.min(most, Math.ceil(many / 2)))
    await pool.close()
  },
)

test('what pages are expected to ask for starts a thread before it is asked for', async () => {
  const { context } = slicesIn()
  const pool = openWritePool(context)
  pool.expect(LARGE / 100)
  await nextTurn()
  expect(threads).toHaveLength(0)
  pool.expect(LARGE)
  await nextTurn()
  expect(threads).toHaveLength(1)
  await pool.close()
  expect(left()).toEqual([])
})

test('slices are made from the lowest blocks on', async () => {
  const { slices, context } = slicesOfOne(10)
  const pool = openHere(context)
  const made: number[] = []
  const running = slices
    .toReversed()
    .map((slice) => pool.run(task(slice), 1).then(({ range }) => made.push(range.from)))
  await Promise.all(running)
  expect(made).toEqual(slices.map(({ range }) => range.from))
  await pool.close()
})

test('closing gives up what nobody has begun', async () => {
  const { slices, context } = slicesOfOne(MANY)
  const pool = openWritePool(context)
  const running = Promise.allSettled(slices.map((slice) => pool.run(task(slice), LARGE)))
  await nextTurn()
  await pool.close()
  const ended = (await running).map(({ status }) => status)
  expect(ended).toContain('rejected')
  expect(left()).toEqual([])
})

test('a thread sorts pages, and makes slices afterwards', async () => {
  const { slices, context } = slicesIn()
  const pool = openWritePool(context)
  const places = slices.flatMap((slice) => slice.places)
  expect(await pool.run({ kind: 'sort', places }, LARGE)).toEqual(places)
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  expect(rows.map(({ transactions }) => transactions)).toEqual([10, 10, 10, 10])
  expect(threads.length).toBeLessThanOrEqual(most)
  await pool.close()
})

test('what threads have staged makes the same CSV files', async () => {
  const given = { format: 'csv', compression: 'gzip', maxRowsPerFile: 15 } as const
  const [{ slices, context }, other] = [slicesIn(given), slicesIn(given)]
  const [pool, here] = [openWritePool(context), openHere(other.context)]
  const table = tableNamed('transactions')
  const assemble = async (rows: readonly SliceRows[], files: SliceContext) => {
    const chunks = rows.flatMap((slice) => slice.chunks.get('transactions') ?? [])
    const parts = await assembleTable({ ...files, table, range: { from: 0, to: END }, chunks })
    return parts.map(({ staged: _staged, ...part }) => part)
  }
  const rows = await Promise.all(slices.map((slice) => pool.run(task(slice), LARGE)))
  const expected = await Promise.all(other.slices.map((slice) => here.run(task(slice), 1)))
  await Promise.all([pool.close(), here.close()])
  const parts = await assemble(rows, context)
  expect(parts.map((part) => part.rows)).toEqual([15, 15, 10])
  expect(parts).toEqual(await assemble(expected, other.context))
  expect(threads.length).toBeGreaterThan(0)
})

test('many jobs share few threads; those without one are done here, or take one that is free again', async () => {
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
  await nextTurn()
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
