import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { lockOutput } from '../../src/core/platform/lock/lock.ts'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { compactOutput } from '../../src/files/compact.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  bucketLocations,
  expectSameAsFresh,
  growingChain,
  headJob,
  mergeFiles,
  rowsIn,
  runOnce,
} from '../helpers/growing-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const BLOCKS = 60

const folder = suiteFolder()
/** The folders of three runs by the fields of their job. */
const prepared = new Map<string, string>()

/** Runs a job three times on a chain that grows. */
async function runThreeNights(given: Partial<Job>) {
  const chain = await growingChain(BLOCKS)
  const job = headJob(chain.url, given as object)
  for (let night = 0; night < 3; night += 1) {
    await runOnce(job)
    await chain.advance(BLOCKS)
  }
  return { chain, job, output: job.output }
}

/** Creates an output of three runs on a chain that continues to grow. Tests of the same job get copies of one output. */
async function threeNights(given: Partial<Job> = {}) {
  if (bucketLocations.next !== undefined) return runThreeNights(given)
  const key = JSON.stringify(given)
  const original = prepared.get(key) ?? join(folder, String(prepared.size))
  if (!prepared.has(key)) {
    const { output } = await runThreeNights(given)
    cpSync(output, original, { recursive: true })
    prepared.set(key, original)
  }
  const chain = await growingChain(4 * BLOCKS)
  const job = headJob(chain.url, given as object)
  cpSync(original, job.output, { recursive: true })
  return { chain, job, output: job.output }
}

const filesOf = (output: string) =>
  DEFAULT_TABLES.map((table) => readManifest(output).tables[table]?.files.length ?? 0)

const forget = (output: string) => rmSync(join(output, '.walletlake'), { recursive: true })

testSample(
  1,
  ['none', 'gzip'] as const,
  'merges CSV with %s compression and keeps every row in order',
  async (compression) => {
    const { job, output } = await threeNights({ compression })
    const [rows, before] = [await rowsIn(output), readManifest(output)]
    expect(await mergeFiles(job)).toMatchObject({ after: 7, changed: true, orphans: 0 })
    expect(await rowsIn(output)).toEqual(rows)
    const { tables, ...others } = readManifest(output)
    expect(filesOf(output)).toEqual([1, 1, 1, 1, 1, 1, 1])
    expect({ ...others, tables: before.tables }).toEqual(before)
    expect(tables.ledger?.rows).toBe(before.tables.ledger?.rows)
    expect(readdirSync(join(output, 'ledger'))).toHaveLength(1)
    await expectValid(output)
  },
)

async function parquetRows(output: string) {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const rows: Record<string, unknown> = {}
  for (const table of DEFAULT_TABLES) {
    const paths = readManifest(output).tables[table]?.files.map(({ path }) => `'${join(output, path)}'`)
    const read = await connection.runAndReadAll(`select * from read_parquet([${paths?.join(', ')}])`)
    rows[table] = read.getRowsJson()
  }
  connection.closeSync()
  instance.closeSync()
  return rows
}

test('merges Parquet with the same rows, types and order', { tags: ['long'] }, async () => {
  const { job, output } = await threeNights({ format: 'parquet', compression: 'zstd' })
  const rows = await parquetRows(output)
  await mergeFiles(job, { maxRowsPerFile: 60 })
  expect(await parquetRows(output)).toEqual(rows)
  const { files = [] } = readManifest(output).tables.ledger ?? {}
  expect(files.length).toBeGreaterThan(2)
  expect(new Set(files.slice(0, -1).map((file) => file.rows))).toEqual(new Set([60]))
  await mergeFiles(job)
  expect(await parquetRows(output)).toEqual(rows)
  await expectValid(output)
})

test('a file merged from Parquet files has the same bytes as a fresh export', {
  tags: ['long'],
}, async () => {
  const { chain, job, output } = await threeNights({ format: 'parquet', compression: 'zstd' })
  await runOnce(job)
  await mergeFiles(job)
  const fresh = headJob(chain.url, { format: 'parquet', compression: 'zstd' })
  await runOnce(fresh)
  const hashes = (folder: string) =>
    DEFAULT_TABLES.map((table) => readManifest(folder).tables[table]?.files.map(({ sha256 }) => sha256))
  expect(hashes(output)).toEqual(hashes(fresh.output))
})

test('a second merge changes nothing', async () => {
  const { job, output } = await threeNights()
  await mergeFiles(job, { maxRowsPerFile: 60 })
  const bytes = outputBytes(output)
  expect(await mergeFiles(job, { maxRowsPerFile: 60 })).toMatchObject({ changed: false, orphans: 0 })
  expect(outputBytes(output)).toEqual(bytes)
})

test('does not change full files when later runs are merged', { tags: ['long'] }, async () => {
  const { job, output } = await threeNights()
  await mergeFiles(job, { maxRowsPerFile: 60 })
  const full = readManifest(output).tables.ledger?.files.filter(({ rows }) => rows === 60) ?? []
  expect(full.length).toBeGreaterThan(1)
  await runOnce(job)
  await mergeFiles(job, { maxRowsPerFile: 60 })
  expect(readManifest(output).tables.ledger?.files.slice(0, full.length)).toEqual(full)
  await expectSameAsFresh(job)
})

test.for([
  { format: 'csv', partitionBy: 'blocks:50' },
  { format: 'parquet', partitionBy: 'day' },
] as const)(
  'merges a partitioned export in $format and splits it by rows',
  { tags: ['long'] },
  async (given) => {
    const { job, output } = await threeNights(given)
    const rows = await rowsIn(output)
    for (const maxRowsPerFile of [1_000_000, 40, 100]) {
      expect(await mergeFiles(job, { maxRowsPerFile })).toMatchObject({ changed: true })
      expect(await rowsIn(output)).toEqual(rows)
      for (const { rows: held } of readManifest(output).tables.ledger?.files ?? [])
        expect(held).toBeLessThanOrEqual(maxRowsPerFile)
      await expectValid(output)
    }
  },
)

test('incremental runs continue a merged export repeatedly', { tags: ['long'] }, async () => {
  const { chain, job, output } = await threeNights()
  for (let night = 0; night < 3; night += 1) {
    await mergeFiles(job)
    const received = chain.received.length
    await runOnce(job)
    expect(chain.received.length - received).toBeLessThanOrEqual(12)
    await chain.advance(20)
    await runOnce(job)
    expect(Math.max(...filesOf(output))).toBeLessThanOrEqual(3)
  }
  await expectSameAsFresh(job)
})

testSample(
  1,
  [
    { what: 'with its checkpoint', lose: () => {}, lookbacks: [300] },
    { what: 'with its checkpoint', lose: () => {}, lookbacks: [70, 300] },
    { what: 'without its checkpoint', lose: forget, lookbacks: [70, 300] },
  ],
  'exports the correct rows for blocks read again after a merge $what: $lookbacks',
  async ({ lose, lookbacks }) => {
    const { job, output } = await threeNights()
    await mergeFiles(job)
    lose(output)
    for (const lookbackBlocks of lookbacks) {
      await runOnce(job, { lookbackBlocks })
      await expectSameAsFresh(job)
    }
  },
)

testSample(
  0,
  [
    { what: 'with its checkpoint', lose: () => {} },
    { what: 'without its checkpoint', lose: forget },
  ],
  'reads the history of a wallet added after a merge $what',
  async ({ lose }) => {
    const { chain, job, output } = await threeNights()
    await mergeFiles(job)
    lose(output)
    const more = headJob(chain.url, { output, count: 8 })
    expect(more.wallets.length).toBeGreaterThan(job.wallets.length)
    await runOnce(more)
    await expectSameAsFresh(more)
  },
)

test('keeps the block up to which lost pages need not be read again', { tags: ['long'] }, async () => {
  const { chain, job, output } = await threeNights()
  forget(output)
  for (let night = 0; night < 2; night += 1) {
    await runOnce(job)
    await chain.advance(40)
  }
  await mergeFiles(job)
  expect(Math.max(...filesOf(output))).toBe(2)
  const received = chain.received.length
  await runOnce(job, { lookbackBlocks: 50 })
  expect(chain.received.length - received).toBeLessThanOrEqual(12)
  await expectSameAsFresh(job)
})

test('an interrupted run resumes after a merge', { tags: ['long'] }, async () => {
  const { job } = await threeNights()
  await runOnce(job, { maxRequests: 3, lookbackBlocks: 30 }).catch(() => undefined)
  await mergeFiles(job)
  await runOnce(job)
  await expectSameAsFresh(job)
})

test('removes files that a killed merge left behind', async () => {
  const { output } = await threeNights()
  const [before, old] = [readFileSync(join(output, 'manifest.json')), outputBytes(output)]
  await compactOutput(output)
  const merged = outputBytes(output)
  writeFileSync(join(output, 'ledger', 'mine.txt'), 'a foreign file')
  for (const path of Object.keys(old).filter((path) => path.startsWith('ledger/')))
    writeFileSync(join(output, path), 'left behind')
  expect(await compactOutput(output)).toMatchObject({ changed: false, orphans: 3 })
  rmSync(join(output, 'ledger', 'mine.txt'))
  expect(outputBytes(output)).toEqual(merged)
  expect(before.length).toBeGreaterThan(0)
})

test('a failed merge leaves the earlier export intact', async () => {
  const { output } = await threeNights()
  const [first] = readManifest(output).tables.ledger?.files ?? []
  const path = join(output, first?.path ?? '')
  const content = readFileSync(path)
  writeFileSync(path, content.toString().replace('transfer', 'tr4nsfer'))
  const damaged = outputBytes(output)
  await expect(compactOutput(output)).rejects.toMatchObject({ code: 'VERIFY_FAILED' })
  expect(outputBytes(output)).toEqual(damaged)
  writeFileSync(path, content)
  await expectValid(output)
})

test('distinguishes a truncated manifest from a missing one', async () => {
  const output = tempFolder()
  const missing = { code: 'USAGE', message: `${output} holds no finished export (no manifest.json)` }
  await expect(compactOutput(output)).rejects.toMatchObject(missing)
  writeFileSync(join(output, 'manifest.json'), '{"manifestVersion":1,')
  await expect(compactOutput(output)).rejects.toMatchObject({ code: 'VERIFY_FAILED' })
})

test('does not change an output that a run has locked', async () => {
  const { output } = await threeNights()
  const release = await lockOutput(join(output, '.walletlake'))
  await expect(compactOutput(output)).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
  await release()
  await expect(compactOutput(join(output, 'ledger'))).rejects.toMatchObject({ code: 'USAGE' })
  expect(readdirSync(join(output, 'ledger'))).not.toContain('.walletlake')
})
