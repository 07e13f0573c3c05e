import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RestCatalog } from '../../src/core/model/model.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { forked, growingChain, headJob, mergeFiles, rowsIn, runOnce } from '../helpers/growing-chain.ts'
import { IMPORTERS_PYTHON, isMissing } from '../helpers/programs.ts'
import type { TextRow } from '../helpers/read-output.ts'

const script = (name: string) => `${import.meta.dirname}/${name}`
const run = promisify(execFile)

type Snapshots = { snapshots: number; first: TextRow[]; last: TextRow[] }

/** The rows of all tables as pyiceberg reads them, from the files or from a REST catalog. */
async function readTables(output: string, ...catalog: string[]): Promise<Record<string, Snapshots>> {
  const args = [script('read-tables.py'), output, ...catalog]
  const { stdout } = await run(IMPORTERS_PYTHON, args, { maxBuffer: 1 << 29 })
  return JSON.parse(stdout)
}

/** Starts a REST catalog that applies pyiceberg's rules. */
async function startCatalog() {
  const server = spawn(IMPORTERS_PYTHON, [script('rest-catalog.py')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  })
  const [port] = await once(createInterface(server.stdout), 'line')
  return `http://127.0.0.1:${port}`
}

const sorted = (rows: readonly TextRow[] = []) => rows.map((row) => JSON.stringify(row)).sort()

/** Three nights with a reorg and a compaction. The first night's rows are returned. */
async function threeNights(catalog: RestCatalog | undefined) {
  const chain = await growingChain(200)
  onTestFinished(chain.end)
  const iceberg = { format: 'parquet', compression: 'zstd', table: 'iceberg', catalog } as const
  const job = headJob(chain.url, { ...iceberg, partitionBy: 'month' })
  await runOnce(job)
  const first = await rowsIn(job.output)
  chain.listing.view = forked(199, 200)
  chain.advance(100)
  await runOnce(job)
  const smaller = { ...job, wallets: job.wallets.slice(1) }
  chain.advance(50)
  await runOnce(smaller)
  await mergeFiles(smaller)
  return { chain, job: smaller, first }
}

describe.skipIf(isMissing('pyiceberg (PyPI)'))('as pyiceberg reads them', { tags: ['long'] }, () => {
  test.for(['files', 'rest'] as const)(
    'tables have the rows of the export, and time travel those of the first night: %s',
    async (type) => {
      const uri = type === 'rest' ? await startCatalog() : undefined
      const catalog = uri === undefined ? undefined : { uri, namespace: 'walletlake' }
      const { job, first } = await threeNights(catalog)
      const tables = await readTables(job.output, ...(uri === undefined ? [] : [uri]))
      const rows = await rowsIn(job.output)
      for (const [name, table] of Object.entries(rows)) {
        expect(sorted(tables[name]?.last)).toEqual(sorted(table))
        const night = first[name as keyof typeof first]
        if (night.length > 0) expect(sorted(tables[name]?.first)).toEqual(sorted(night))
      }
      expect(tables.ledger?.snapshots).toBe(4)
      expect((await verifyOutput(job.output)).problems).toEqual([])
    },
  )

  test('a commit that the catalog refuses leaves a complete export, and the next run commits', async () => {
    const uri = await startCatalog()
    const chain = await growingChain(200)
    onTestFinished(chain.end)
    const catalog = { uri, namespace: 'walletlake' }
    const job = headJob(chain.url, { format: 'parquet', compression: 'zstd', table: 'iceberg', catalog })
    await fetch(`${uri}/refuse`, { method: 'POST' })
    await expect(runOnce(job)).rejects.toMatchObject({
      code: 'CATALOG_FAILED',
      message: expect.stringContaining('another program has changed table'),
      fix: expect.stringContaining('The files of the export are complete'),
    })
    const rows = await rowsIn(job.output)
    expect(rows.ledger.length).toBeGreaterThan(0)
    await fetch(`${uri}/accept`, { method: 'POST' })
    await runOnce(job)
    const { ledger } = await readTables(job.output, uri)
    expect(sorted(ledger?.last)).toEqual(sorted(rows.ledger))
  })
})

test('a catalog that does not answer is named, and the export is complete', async () => {
  const chain = await growingChain(60)
  onTestFinished(chain.end)
  const catalog = { uri: 'http://127.0.0.1:9', namespace: 'walletlake' }
  const job = headJob(chain.url, {
    format: 'parquet',
    compression: 'zstd',
    table: 'iceberg',
    catalog,
    count: 2,
  })
  await expect(runOnce(job)).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    message: expect.stringContaining('http://127.0.0.1:9 does not answer'),
  })
  expect((await rowsIn(job.output)).transactions).toBeDefined()
})
