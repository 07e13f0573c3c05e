import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import type { Job, PartitionBy } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import {
  expectSameAsFresh,
  growingChain,
  headJob,
  mergeFiles,
  rowsIn,
  runOnce,
  withStore,
} from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest, type TextRow } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'

const addresses = smallWallets.slice(0, 6)
const jobOf = (given: Partial<Job> = {}) => withStore(testJob({ addresses, output: tempFolder(), ...given }))
const pathsOf = (output: string, table: (typeof DEFAULT_TABLES)[number] = 'ledger') =>
  (readManifest(output).tables[table]?.files ?? []).map(({ path }) => path)

/** Computes the folder that a row belongs to from its text. */
const FOLDER_OF: Record<string, (row: TextRow) => string> = {
  day: ({ block_timestamp: time = '' }) => `day=${time.slice(0, 10)}`,
  month: ({ block_timestamp: time = '' }) => `month=${time.slice(0, 7)}`,
  'blocks:50': ({ block_number: block }) => {
    const start = Math.floor(Number(block) / 50) * 50
    return `blocks=${[start, start + 50].map((edge) => String(edge).padStart(12, '0')).join('-')}`
  },
}

testSample(
  1,
  ['day', 'month', 'blocks:50'] as const,
  'puts rows into the folder of their %s',
  async (partitionBy) => {
    const [job, flat] = [jobOf({ partitionBy, maxRowsPerFile: 150 }), jobOf()]
    await runOnce(job)
    await runOnce(flat)
    const rows = (await rowsIn(job.output)) as Record<string, TextRow[]>
    expect(rows).toEqual(await rowsIn(flat.output))
    for (const table of DEFAULT_TABLES) {
      const wanted = [...new Set(rows[table]?.map((row) => FOLDER_OF[partitionBy]?.(row)))]
      const found = [...new Set(pathsOf(job.output, table).map((path) => path.split('/')[1]))]
      expect(found).toEqual(wanted)
    }
    for (const { rows } of readManifest(job.output).tables.ledger?.files ?? []) expect(rows).toBeLessThan(151)
    await expectValid(job.output)
  },
)

test('does not record partitions for an output without partitions', async () => {
  const job = jobOf()
  await runOnce(job)
  expect(readFileSync(join(job.output, 'manifest.json'), 'utf8')).not.toContain('partition')
  expect(pathsOf(job.output)).toEqual(['ledger/ledger-000000000000-000000000421-0000.csv'])
})

testSample(
  0,
  [
    { partitionBy: 'blocks:30', targetFileBytes: 20_000 },
    { partitionBy: 'blocks:100', format: 'parquet', compression: 'zstd' },
  ] as const,
  'writes the same bytes at any concurrency, by $partitionBy',
  async (given) => {
    const [one, many] = [jobOf({ ...given, concurrency: 1 }), jobOf({ ...given, concurrency: 32 })]
    await runOnce(one)
    await runOnce(many)
    expect(outputBytes(many.output)).toEqual(outputBytes(one.output))
    await expectValid(one.output)
  },
)

test('ends a file with the line that reaches the target size', { tags: ['long'] }, async () => {
  const job = jobOf({ targetFileBytes: 30_000 })
  await runOnce(job)
  const sizes = readManifest(job.output).tables.ledger?.files.map(({ bytes }) => bytes) ?? []
  expect(sizes.length).toBeGreaterThan(3)
  const longest = 1_000
  for (const size of sizes.slice(0, -1)) {
    expect(size).toBeGreaterThanOrEqual(30_000)
    expect(size).toBeLessThan(30_000 + 2 * longest)
  }
  await expectValid(job.output)
})

test('later runs add files to partitions, and a merge makes them one', { tags: ['long'] }, async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { partitionBy: 'blocks:100' })
  for (let night = 0; night < 3; night += 1) {
    await runOnce(job)
    await chain.advance(60)
  }
  await runOnce(job)
  expect(pathsOf(job.output).length).toBeGreaterThan(4)
  await mergeFiles(job)
  const folders = pathsOf(job.output).map((path) => path.split('/')[1])
  expect(new Set(folders).size).toBe(folders.length)
  expect(readdirSync(join(job.output, 'ledger')).sort()).toEqual(folders)
  await expectValid(job.output)
  await runOnce(job, { lookbackBlocks: 80 })
  await expectSameAsFresh(job)
})

test('rejects another partitioning with a fix', async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { partitionBy: 'day' as PartitionBy })
  await runOnce(job)
  const [result] = (await run([{ ...job, partitionBy: 'month' }])).jobs
  expect(result?.error).toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining('partitionBy'),
  })
})

test('an engine that supports Hive partitions skips the other folders', { tags: ['long'] }, async () => {
  const job = jobOf({ partitionBy: 'blocks:100', format: 'parquet', compression: 'zstd' })
  await runOnce(job)
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const read = await connection.runAndReadAll(
    `select blocks, count(*)::int from read_parquet('${job.output}/ledger/*/*.parquet', hive_partitioning = true) group by all order by all`,
  )
  expect(read.getRowsJson().length).toBeGreaterThan(3)
  connection.closeSync()
  instance.closeSync()
})
