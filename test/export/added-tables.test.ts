import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import { DEFAULT_TABLES, type TableName } from '../../src/core/table/index.ts'
import { summarizeRun } from '../../src/export/history/run-report.ts'
import { run } from '../../src/export/run.ts'
import { loadInto } from '../../src/load/load.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { growingChain, headJob, inNewFolder, mergeFiles, rowsIn } from '../helpers/growing-chain.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest, type TextRow } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { sqlite } from '../load/engines.ts'

/** Tables of the export to which the others are added. */
const FEW: readonly TableName[] = ['erc20_transfers', 'wallet_transactions']
const ADDED = DEFAULT_TABLES.filter((table) => !FEW.includes(table))

async function runOnce(job: Job, options: { fresh?: boolean } = {}) {
  const notices: string[] = []
  const result = await run([job], { onNotice: (notice) => notices.push(notice), ...options })
  const [ended] = result.jobs
  return { notices, state: ended?.state, error: ended?.error, summary: summarizeRun(result).jobs[0] }
}

const asText = (row: Record<string, unknown>) =>
  JSON.stringify(Object.values(row).map((cell) => String(cell ?? '')))

/** The lines that a change list must have for these tables: all their rows before `end`, in file order. */
function linesFor(rows: Record<TableName, TextRow[]>, tables: readonly TableName[], end: number): string[] {
  return tables.flatMap((table) =>
    rows[table]
      .filter(({ block_number: block }) => Number(block) < end)
      .map((row) => `${table} added ${asText(row)}`),
  )
}

type Change = { table: string; change: string; row: Record<string, unknown> }

function linesOf(output: string, file: string | null | undefined): string[] {
  const text = readFileSync(join(output, file ?? 'none'), 'utf8').trimEnd()
  const list = text.split('\n').map((line) => JSON.parse(line) as Change)
  return list.map(({ table, change, row }) => `${table} ${change} ${asText(row)}`)
}

testSample(
  1,
  [
    { format: 'parquet', compression: 'zstd', partitionBy: undefined, isMerged: false },
    { format: 'csv', compression: 'gzip', partitionBy: 'blocks:50', isMerged: true },
  ] as const,
  'a run adds tables to an export from its stored pages: %o',
  async ({ isMerged, ...fields }) => {
    const chain = await growingChain(120)
    const job = headJob(chain.url, { ...fields, escapeFormulas: false, count: 3 })
    const few = { ...job, tables: FEW }
    await runOnce(few)
    chain.advance(60)
    await runOnce(few)
    if (isMerged) await mergeFiles(few)
    const target = await sqlite.place()
    await loadInto(job.output, target.to)
    chain.advance(20)
    const before = chain.received.length
    const { error, notices, summary } = await runOnce(job)
    expect(error).toBeUndefined()
    expect(notices).toContain('test: tables changed, so all rows are written again')
    const starts = chain.received.slice(before).flatMap(({ query }) => query.get('startBlock') ?? [])
    expect(Math.min(...starts.map(Number))).toBeGreaterThan(120)

    const fresh = inNewFolder(job)
    await runOnce(fresh)
    const rows = await rowsIn(job.output)
    expect(rows).toEqual(await rowsIn(fresh.output))
    await expectValid(job.output)
    const lines = linesFor(rows, ADDED, 181)
    expect(linesOf(job.output, summary?.changesFile)).toEqual(lines)
    const counts = (wanted: (line: string) => boolean) =>
      Object.fromEntries(
        DEFAULT_TABLES.map((name) => [
          name,
          lines.filter((line) => line.startsWith(`${name} `) && wanted(line)).length,
        ]),
      )
    expect(summary?.rowsAdded).toEqual(counts(() => true))
    expect(summary?.rowsRemoved).toEqual(counts(() => false))
    await loadInto(job.output, target.to)
    expect(await target.run('SELECT count(*) AS n FROM ledger')).toEqual([{ n: rows.ledger.length }])
  },
)

test('tables are added to an export without transactions', async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { startBlock: 100 })
  await runOnce({ ...job, tables: FEW })
  expect((await runOnce(job)).error).toBeUndefined()
  expect(Object.keys(readManifest(job.output).tables)).toEqual(DEFAULT_TABLES)
  expect((await runOnce(job)).state).toBe('unchanged')
})

test('an export whose pages are gone requires --fresh for another table, whatever was exported since', async () => {
  const chain = await growingChain(60)
  const job = headJob(chain.url, { count: 2 })
  const refused = async (job: Job) => {
    const bytes = outputBytes(job.output)
    expect((await runOnce(job)).error).toMatchObject({
      code: 'OUTPUT_CHANGED',
      message: expect.stringContaining('lacks the table transactions, and its pages are gone'),
      fix: expect.stringContaining('--fresh'),
    })
    expect(outputBytes(job.output)).toEqual(bytes)
  }
  const few = { ...job, tables: FEW }
  await runOnce(few)
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  await refused(job)
  chain.advance(40)
  await runOnce(few)
  await refused(job)

  const finished = { ...inNewFolder(job), endBlock: 50 }
  await runOnce({ ...finished, tables: FEW })
  await refused(finished)
  expect((await runOnce(finished, { fresh: true })).error).toBeUndefined()
  expect(Object.keys(readManifest(finished.output).tables)).toEqual(DEFAULT_TABLES)
})
