import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { csvHeader } from '../../src/write/csv.ts'
import { copyToParquet } from '../../src/write/parquet.ts'
import { makePipes, openParquetFeed } from '../../src/write/parquet-feed.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { linesOf, SAMPLE, sample } from './tables.ts'

const HEADER = csvHeader(SAMPLE.columns)
/** As many lines as make two row groups. */
const LINES = linesOf(
  Array.from({ length: 120_000 }, (_, at) => sample({ name: `row ${at % 1000}`, small: at })),
).text

async function openFeed() {
  const folder = tempFolder()
  const [pipe, path] = [join(folder, 'pipe'), join(folder, 'fed.parquet')]
  expect(await makePipes([pipe])).toBe(true)
  return {
    folder,
    path,
    feed: openParquetFeed(pipe, { path, table: SAMPLE, compression: 'zstd', bytes: LINES.length }),
  }
}

test('lines that are fed in pieces become the file that is made of all of them', async () => {
  const { folder, path, feed } = await openFeed()
  await feed.write(HEADER)
  const bytes = Buffer.from(LINES)
  for (let at = 0; at < bytes.length; at += 77_777) await feed.write(bytes.subarray(at, at + 77_777))
  const measured = await feed.finish()
  const [staged, whole] = [join(folder, 'staged.csv'), join(folder, 'whole.parquet')]
  writeFileSync(staged, HEADER + LINES)
  const size = { rows: 120_000, bytes: HEADER.length + bytes.length, longest: 100 }
  const expected = await copyToParquet({ staged, path: whole, table: SAMPLE, compression: 'zstd', size })
  expect(measured).toEqual({ rows: 120_000, ...expected })
  expect(readFileSync(path).equals(readFileSync(whole))).toBe(true)
  await feed.abandon()
})

test.for(['', HEADER, HEADER + LINES.slice(0, 1_000_000)])(
  'an abandoned feed leaves nothing under way, and takes no more (%#)',
  async (fed) => {
    const { folder, feed } = await openFeed()
    if (fed !== '') await feed.write(fed)
    await feed.abandon()
    await expect(feed.write('x')).rejects.toThrow('ended')
    expect(existsSync(join(folder, 'pipe'))).toBe(false)
    expect(await feed.finish()).toBeUndefined()
  },
)

test('lines that are none end the copy: they are not taken, and there is no file', async () => {
  const { feed } = await openFeed()
  const feedAll = async () => {
    await feed.write(HEADER)
    for (let at = 0; at < 1_000; at += 1) await feed.write(`${'a,'.repeat(5_000)}\n`)
  }
  await expect(feedAll()).rejects.toThrow()
  expect(await feed.finish()).toBeUndefined()
})

test('where the copy cannot begin, nothing is taken and nothing waits', async () => {
  const folder = tempFolder()
  const path = join(folder, 'fed.parquet')
  const feed = openParquetFeed(join(folder, 'missing'), {
    path,
    table: SAMPLE,
    compression: 'zstd',
    bytes: 0,
  })
  await expect(feed.write(HEADER)).rejects.toThrow('ended')
  expect(await feed.finish()).toBeUndefined()
  await feed.abandon()
})

test('a folder that takes no pipes is said to take none', async () => {
  expect(await makePipes([join(tempFolder(), 'missing', 'pipe')])).toBe(false)
  const [path, before] = [join(tempFolder(), 'pipe'), process.env.PATH]
  process.env.PATH = ''
  expect(await makePipes([path])).toBe(false)
  process.env.PATH = before
  expect(await makePipes([path])).toBe(true)
  const made = statSync(path)
  expect(made.isFIFO()).toBe(true)
  expect(made.mode & 0o777).toBe(0o600)
})

/** Where threads run, and processes end, as they do for a user: the built program. */
const dist = new URL('../../dist/', import.meta.url)
const WAYS = {
  'before the copy has begun': '',
  'while the copy waits for lines': 'await feed.write(header)\nawait wait(200)',
  'while the copy waits for the rest of a line': "await feed.write(header + 'x,1')\nawait wait(200)",
}

test.for(
  Object.entries(WAYS).flatMap(([when, before]) =>
    ['process.exit(130)', "throw new Error('unexpected')"].map((end) => ({ when, end, before })),
  ),
)('a process ends by $end $when', async ({ before, end }) => {
  const folder = tempFolder()
  const [pipe, path] = [join(folder, 'pipe'), join(folder, 'fed.parquet')]
  expect(await makePipes([pipe])).toBe(true)
  const script = `
    import { setTimeout as wait } from 'node:timers/promises'
    import { openParquetFeed } from '${new URL('write/parquet-feed.js', dist)}'
    import { csvHeader } from '${new URL('write/csv.js', dist)}'
    import { tableNamed } from '${new URL('core/table/index.js', dist)}'
    const table = tableNamed('ledger')
    const header = csvHeader(table.columns)
    const feed = openParquetFeed('${pipe}', { path: '${path}', table, compression: 'zstd', bytes: 0 })
    setTimeout(() => console.log('alive'), 60_000)
    ${before}
    ${end}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { timeout: 30_000 })
  const [code, signal] = await once(child, 'exit')
  expect({ code, signal }).toEqual({ code: end.startsWith('throw') ? 1 : 130, signal: null })
})
