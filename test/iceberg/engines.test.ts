import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Job, RestCatalog } from '../../src/core/model/model.ts'
import type { TableMetadata } from '../../src/iceberg/metadata.ts'
import { bucketUrl } from '../../src/storage/bucket-url.ts'
import { dropColumn } from '../helpers/drop-column.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { forked, growingChain, headJob, mergeFiles, rowsIn, runOnce } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { MAINNET_BLOCKS } from '../helpers/mainnet-blocks.ts'
import { IMPORTERS_PYTHON, isMissing, type Program } from '../helpers/programs.ts'
import type { TextRow } from '../helpers/read-output.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'
import { noRadosgw, startRadosgw } from '../storage/start-radosgw.ts'
import { commit, ICEBERG, metadataOf } from './lake.ts'

const script = (name: string) => `${import.meta.dirname}/${name}`
const run = promisify(execFile)

const ENGINES = {
  pyiceberg: 'pyiceberg (PyPI)',
  polars: 'polars (PyPI)',
  duckdb: 'DuckDB with its Iceberg extension (PyPI)',
  spark: 'Spark with Iceberg (PyPI, Maven)',
} as const satisfies Record<string, Program>
type Engine = keyof typeof ENGINES

type Snapshots = { snapshots: number; first: TextRow[]; last: TextRow[] }

/** The rows of all tables as an engine reads them, from the files or from a REST catalog. */
async function readTables(engine: Engine, job: Job): Promise<Record<string, Snapshots>> {
  const { output, store, catalog } = job
  const folder = store === undefined ? output : bucketUrl(store)
  const args = [script('read-tables.py'), engine, folder, ...(catalog === undefined ? [] : [catalog.uri])]
  const env = { ...process.env, AWS_ENDPOINT_URL_S3: store?.endpoint }
  const { stdout } = await run(IMPORTERS_PYTHON, args, { maxBuffer: 1 << 29, env })
  return JSON.parse(stdout)
}

/** Starts a REST catalog that applies pyiceberg's rules. */
async function startCatalog() {
  const server = spawn(IMPORTERS_PYTHON, [script('rest-catalog.py')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    server.kill()
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  }
  const [port] = await once(createInterface(server.stdout), 'line')
  const catalog: RestCatalog = { uri: `http://127.0.0.1:${port}`, namespace: 'walletlake' }
  return { catalog, stop }
}

const sorted = (rows: readonly TextRow[] = []) => rows.map((row) => JSON.stringify(row)).sort()

/** Makes the export and its table `ledger` those of a version whose last column did not exist yet. */
async function asOlderVersion(job: Job): Promise<void> {
  await dropColumn(job.output, 'ledger', 'source')
  const place = `${job.catalog?.uri}/metadata/walletlake/tables/ledger`
  if (job.catalog === undefined) rmSync(join(job.output, 'ledger', 'metadata'), { recursive: true })
  else await fetch(place, { method: 'DELETE' })
  await commit(job)
  const metadata: TableMetadata = await metadataOf(job, 'ledger')
  const schemas = metadata.schemas.map((schema) => ({
    ...schema,
    fields: schema.fields.filter(({ name }) => name !== 'source'),
  }))
  const earlier = JSON.stringify({ ...metadata, schemas, 'last-column-id': metadata['last-column-id'] - 1 })
  if (job.catalog === undefined)
    writeFileSync(join(job.output, 'ledger', 'metadata', 'v2.metadata.json'), earlier)
  else await fetch(place, { method: 'PUT', body: earlier })
}

/** Nights with an added column, a reorg, a removed wallet and a compaction. Resolves with the rows of the first and the last. */
async function someNights(output: string, catalog: RestCatalog | undefined) {
  const chain = await growingChain(200)
  const job = headJob(chain.url, { ...ICEBERG, output, catalog, partitionBy: 'month' })
  await runOnce(job)
  await asOlderVersion(job)
  const first = await rowsIn(job.output)
  chain.listing.view = forked(199, 200)
  chain.advance(100)
  await runOnce(job)
  const smaller = { ...job, wallets: job.wallets.slice(1) }
  chain.advance(50)
  await runOnce(smaller)
  await mergeFiles(smaller)
  return { job: smaller, first, last: await rowsIn(job.output) }
}

describe.skipIf(isMissing('pyiceberg (PyPI)'))(
  'tables have the rows of the export',
  { tags: ['long'] },
  () => {
    describe.for(['files', 'rest'] as const)('with the catalog: %s', (type) => {
      const folder = suiteFolder()
      let server: ReturnType<typeof startCatalog> | undefined
      let nights: ReturnType<typeof someNights> | undefined
      /** The export that the tests share. The first of them makes it. */
      const share = async () => {
        if (type === 'rest') server ??= startCatalog()
        const catalog = (await server)?.catalog
        nights ??= someNights(join(folder, 'out'), catalog)
        return nights
      }
      afterAll(async () => (await server)?.stop())

      test('as verify reads them', async () => {
        const { job } = await share()
        await expectValid(job.output)
        const { schemas, snapshots } = await metadataOf(job, 'ledger')
        expect(schemas.map(({ fields }) => fields.length)).toEqual([23, 24])
        expect(snapshots.map(({ summary }) => summary.operation)).toEqual([
          'append',
          'overwrite',
          'append',
          'replace',
        ])
      })

      for (const engine of Object.keys(ENGINES) as Engine[])
        test.skipIf(isMissing(ENGINES[engine]))(
          `as ${engine} reads them, also those of the first night`,
          async () => {
            const { job, first, last } = await share()
            const tables = await readTables(engine, job)
            for (const [name, rows] of Object.entries(last)) {
              expect(sorted(tables[name]?.last)).toEqual(sorted(rows))
              const night = first[name as keyof typeof first]
              if (night.length > 0) expect(sorted(tables[name]?.first)).toEqual(sorted(night))
            }
          },
        )
    })

    test.for(['files', 'rest'] as const)('of two blocks of Ethereum, with the catalog: %s', async (type) => {
      const server = type === 'rest' ? await startCatalog() : undefined
      onTestFinished(async () => server?.stop())
      const output = join(tempFolder(), 'out')
      const job = testJob({ ...MAINNET_BLOCKS, ...ICEBERG, output, catalog: server?.catalog })
      await runOnce(job)
      const rows = await rowsIn(output)
      expect(rows.transactions).toHaveLength(298)
      for (const engine of (Object.keys(ENGINES) as Engine[]).filter(
        (engine) => !isMissing(ENGINES[engine]),
      )) {
        const tables = await readTables(engine, job)
        for (const [name, expected] of Object.entries(rows))
          expect(sorted(tables[name]?.last)).toEqual(sorted(expected))
      }
    })

    test.for([
      ['files', 'added'],
      ['rest', 'added'],
      // A REST catalog gives the columns of a new table other ids than the files have.
      ['rest', 'there from the start'],
    ] as const)('with decimals beside the exact text: %s, %s', async ([type, since]) => {
      const server = type === 'rest' ? await startCatalog() : undefined
      onTestFinished(async () => server?.stop())
      const chain = await growingChain(200)
      const exact = headJob(chain.url, { ...ICEBERG, catalog: server?.catalog, tables: ['ledger'] })
      const job = { ...exact, numbers: 'decimal' } as const
      if (since === 'added') await runOnce(exact)
      await runOnce(job, { fresh: true })
      const engines = (Object.keys(ENGINES) as Engine[]).filter((engine) => !isMissing(ENGINES[engine]))
      for (const engine of engines) {
        const { ledger } = await readTables(engine, job)
        const has = (row: TextRow | undefined) => row !== undefined && 'value_decimal' in row
        expect([has(ledger?.first[0]), has(ledger?.last[0])]).toEqual([since !== 'added', true])
        const decimals = ledger?.last.filter((row) => row.value_decimal !== '') ?? []
        expect(decimals.length).toBeGreaterThan(10)
        for (const { value, value_decimal } of decimals) expect(value_decimal).toBe(value)
        const amounts = ledger?.last.filter((row) => row.amount_decimal !== '') ?? []
        expect(amounts.length).toBeGreaterThan(10)
        for (const { amount, amount_decimal } of amounts) expect(Number(amount_decimal)).toBe(Number(amount))
      }
    })

    test.skipIf(noRadosgw)('in an object store, whatever its prefix', async () => {
      const { newLocation, stop } = await startRadosgw()
      onTestFinished(stop)
      const location = newLocation()
      const chain = await growingChain(200)
      const store = { ...location, prefix: `${location.prefix}/every night/100%` }
      const job = headJob(chain.url, { ...ICEBERG, store, partitionBy: 'day' })
      await runOnce(job)
      const first = await rowsIn(job.output)
      chain.listing.view = forked(199, 200)
      chain.advance(100)
      await runOnce(job)
      await mergeFiles(job)
      const last = await rowsIn(job.output)
      await expectValid(job.output, { store })
      const tables = await readTables('pyiceberg', job)
      for (const [name, rows] of Object.entries(last)) {
        expect(sorted(tables[name]?.last)).toEqual(sorted(rows))
        expect(sorted(tables[name]?.first)).toEqual(sorted(first[name as keyof typeof first]))
      }
    })

    test('although the catalog refused the first commit', async () => {
      const { catalog, stop } = await startCatalog()
      onTestFinished(stop)
      const chain = await growingChain(200)
      const job = headJob(chain.url, { ...ICEBERG, catalog })
      await fetch(`${catalog.uri}/refuse`, { method: 'POST' })
      await expect(runOnce(job)).rejects.toMatchObject({
        code: 'CATALOG_FAILED',
        message: expect.stringContaining('another program has changed table'),
        fix: expect.stringContaining('The files of the export are complete'),
      })
      const rows = await rowsIn(job.output)
      expect(rows.ledger.length).toBeGreaterThan(0)
      await fetch(`${catalog.uri}/accept`, { method: 'POST' })
      await runOnce(job)
      const { ledger } = await readTables('pyiceberg', job)
      expect(sorted(ledger?.last)).toEqual(sorted(rows.ledger))
    })
  },
)

test('a catalog that does not answer is named, and the export is complete', async () => {
  const chain = await growingChain(60)
  const catalog = { uri: 'http://127.0.0.1:9', namespace: 'walletlake' }
  const job = headJob(chain.url, { ...ICEBERG, catalog, count: 2 })
  await expect(runOnce(job)).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    message: expect.stringContaining('http://127.0.0.1:9 does not answer'),
  })
  expect((await rowsIn(job.output)).transactions).toBeDefined()
})
