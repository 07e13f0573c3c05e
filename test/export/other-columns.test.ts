import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutput } from '../../src/cli/options/output-argument.ts'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { loadInto } from '../../src/load/load.ts'
import { queryExport } from '../../src/read/query-export.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { dropColumn, dropColumnInBucket } from '../helpers/drop-column.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { growingChain, headJob, inNewFolder, mergeFiles, rowsIn } from '../helpers/growing-chain.ts'
import { startObjectStore } from '../helpers/object-store.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { duckdb, sqlite } from '../load/engines.ts'

async function runOnce(job: Job) {
  const notices: string[] = []
  const { jobs } = await run([job], { onNotice: (notice) => notices.push(notice) })
  return { notices, state: jobs[0]?.state, error: jobs[0]?.error }
}

testSample(
  1,
  [
    { format: 'csv', compression: 'none', partitionBy: undefined, isMerged: false },
    { format: 'csv', compression: 'gzip', partitionBy: undefined, isMerged: false },
    { format: 'csv', compression: 'none', partitionBy: 'blocks:100', isMerged: true },
    { format: 'parquet', compression: 'zstd', partitionBy: undefined, isMerged: false },
    { format: 'parquet', compression: 'zstd', partitionBy: 'blocks:100', isMerged: true },
  ] as const,
  'a run rewrites an export that lacks a column from its pages: %o',
  async ({ isMerged, ...fields }) => {
    const chain = await growingChain(300)
    const job = headJob(chain.url, fields)
    await runOnce(job)
    chain.advance(60)
    await runOnce(job)
    if (isMerged) await mergeFiles(job)
    await dropColumn(job.output, 'ledger', 'asset_symbol')
    chain.advance(20)
    const before = chain.received.length
    const again = await runOnce(job)
    expect([again.state, again.error]).toEqual(['complete', undefined])
    expect(again.notices).toContain('test: columns changed, so all rows are written again')
    const starts = chain.received.slice(before).map(({ query }) => Number(query.get('startBlock')))
    expect(Math.min(...starts)).toBeGreaterThan(200)
    const fresh = inNewFolder(job)
    await runOnce(fresh)
    expect(await rowsIn(job.output)).toEqual(await rowsIn(fresh.output))
    await expectValid(job.output)
  },
)

const query = async (output: string, sql: string) => {
  for await (const _ of queryExport(output, sql)) break
}

test('an export in an object store that lacks a column is upgraded like one in a folder', {
  tags: ['long'],
}, async () => {
  const { location, endpoint } = await startObjectStore()
  process.env.AWS_ENDPOINT_URL_S3 = endpoint
  const chain = await growingChain(40)
  const store = { ...location, prefix: 'mine' }
  const job = { ...headJob(chain.url, { count: 2 }), store }
  await runOnce(job)
  chain.advance(20)
  await runOnce(job)
  const target = await duckdb.place()
  await loadInto((await openOutput('s3://lake/mine')).output, target.to)
  await target.run('ALTER TABLE ledger DROP COLUMN asset_symbol')
  await dropColumnInBucket(store, 'ledger', 'asset_symbol')

  const old = await openOutput('s3://lake/mine')
  const lacking = { message: expect.stringContaining('ledger lacks the column asset_symbol') }
  await expect(query(old.output, 'select 1')).rejects.toMatchObject(lacking)
  await expect(loadInto(old.output, target.to)).rejects.toMatchObject(lacking)
  expect((await verifyOutput(old.output)).problems).toEqual([lacking.message])
  const elsewhere = { ...job, output: tempFolder() }
  expect((await runOnce(elsewhere)).error).toMatchObject({ code: 'OUTPUT_CHANGED', ...lacking })

  chain.advance(20)
  expect((await runOnce(job)).error).toBeUndefined()
  const { output } = await openOutput('s3://lake/mine')
  await expectValid(output)
  const fresh = inNewFolder(job)
  await runOnce(fresh)
  const rows = await rowsIn(fresh.output)
  expect(await rowsIn(output)).toEqual(rows)
  await query(output, 'select asset_symbol from ledger')
  await loadInto(output, target.to)
  const [counts] = await target.run('SELECT count(*) AS n, count(asset_symbol) AS symbols FROM ledger')
  const symbols = rows.ledger.filter(({ asset_symbol }) => asset_symbol !== '').length
  expect(Object.values(counts ?? {}).map(Number)).toEqual([rows.ledger.length, symbols])
})

test('a finished export that lacks a column and has no stored pages requires --fresh', async () => {
  const chain = await growingChain(421)
  const job = { ...headJob(chain.url), endBlock: 400 }
  await runOnce(job)
  const bytes = outputBytes(job.output)
  await dropColumn(job.output, 'transactions', 'nonce')
  const changed = outputBytes(job.output)
  const { error, state } = await runOnce(job)
  expect(state).toBe('failed')
  expect(error).toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining('transactions lacks the column nonce'),
    fix: expect.stringContaining('--fresh'),
  })
  expect(outputBytes(job.output)).toEqual(changed)
  const { jobs } = await run([job], { fresh: true })
  expect(jobs[0]?.error).toBeUndefined()
  expect(outputBytes(job.output)).toEqual(bytes)
})

test('an export whose transfers have no transfer_id gets the ids in the next run', {
  tags: ['long'],
}, async () => {
  const chain = await growingChain(300)
  const job = headJob(chain.url)
  await runOnce(job)
  const rows = await rowsIn(job.output)
  expect(rows.erc20_transfers.length).toBeGreaterThan(0)
  await dropColumn(job.output, 'erc20_transfers', 'transfer_id')
  expect((await runOnce(job)).error).toBeUndefined()
  expect(await rowsIn(job.output)).toEqual(rows)
  await expectValid(job.output)
})

test('an unfinished export that lacks a column and has no checkpoint requires --fresh', async () => {
  const chain = await growingChain(300)
  const job = headJob(chain.url)
  await runOnce(job)
  await dropColumn(job.output, 'ledger', 'asset_symbol')
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  expect((await runOnce(job)).error).toMatchObject({ code: 'OUTPUT_CHANGED' })
})

test('commands that read an export that lacks a column explain how to upgrade it', async () => {
  const chain = await growingChain(300)
  const job = headJob(chain.url)
  await runOnce(job)
  await dropColumn(job.output, 'ledger', 'asset_symbol')
  const expected = {
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining('ledger lacks the column asset_symbol'),
    fix: expect.stringContaining('Run its job again'),
  }
  await expect(query(job.output, 'select 1')).rejects.toMatchObject(expected)
  await expect(balances(job.output)).rejects.toMatchObject(expected)
  const { message, fix } = expected
  const target = await sqlite.place()
  await expect(loadInto(job.output, target.to)).rejects.toMatchObject({ code: 'VERIFY_FAILED', message, fix })
  const { problems, isCurrent } = await verifyOutput(job.output)
  expect([problems, isCurrent]).toEqual([[message], false])
})

test('a run refuses an export of a newer version and leaves it unchanged', async () => {
  const chain = await growingChain(300)
  const job = headJob(chain.url)
  await runOnce(job)
  const path = join(job.output, 'manifest.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"schemaVersion": 1', '"schemaVersion": 2'))
  const changed = outputBytes(job.output)
  expect((await runOnce(job)).error).toMatchObject({
    code: 'OUTPUT_CHANGED',
    message: expect.stringContaining('newer version'),
  })
  expect(outputBytes(job.output)).toEqual(changed)
})

testSample(
  1,
  [sqlite, duckdb],
  'loading the upgraded export into $name adds the column to its table',
  async (engine) => {
    const chain = await growingChain(60)
    const job = headJob(chain.url)
    await runOnce(job)
    const target = await engine.place()
    await loadInto(job.output, target.to)
    await target.run('ALTER TABLE ledger DROP COLUMN asset_symbol')
    await target.run('ALTER TABLE ledger ADD COLUMN note TEXT')
    await target.run("UPDATE walletlake_loads SET sha256 = 'of the earlier version'")
    await dropColumn(job.output, 'ledger', 'asset_symbol')
    expect((await runOnce(job)).error).toBeUndefined()
    await loadInto(job.output, target.to)
    const [counts] = await target.run(
      'SELECT count(*) AS n, count(asset_symbol) AS symbols, count(note) AS notes FROM ledger',
    )
    const rows = await readCsvTable(job.output, 'ledger')
    const symbols = rows.filter(({ asset_symbol }) => asset_symbol !== '').length
    expect(Object.values(counts ?? {}).map(Number)).toEqual([rows.length, symbols, 0])
  },
)
