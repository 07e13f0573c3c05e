import { renameSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectOutput } from '../../src/export/inspect-output.ts'
import type { LakeStore } from '../../src/iceberg/commit-export.ts'
import { commitToCatalog, compareSnapshots, expireOutput } from '../../src/iceberg/index.ts'
import { openStore } from '../../src/storage/open-store.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { fetchToFolder, inNewFolder, mergeFiles, runOnce } from '../helpers/growing-chain.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { commit, expectCurrent, filesOf, firstNight, LAKE_KINDS, LAKES, metadataOf } from './lake.ts'
import { type MemoryCatalog, startMemoryCatalog } from './memory-catalog.ts'

const SMALL = { count: 2, tables: ['ledger'] } as const

type Fault = {
  what: string
  message: string
  fix: string
  isMade?: boolean
  end: (response: ServerResponse) => void
}

const answerWith = (status: number) => (response: ServerResponse) => {
  response.writeHead(status).end('{"error": {"message": "no"}}')
}
const FAULTS: readonly Fault[] = [
  { what: '401', message: 'answered 401: no', fix: 'Set WALLETLAKE_CATALOG_TOKEN', end: answerWith(401) },
  {
    what: '409',
    message: 'another program has changed table ledger',
    fix: 'Run the same',
    end: answerWith(409),
  },
  { what: '422', message: 'answered 422: no', fix: 'Correct what the message names', end: answerWith(422) },
  { what: '503', message: 'answered 503: no', fix: 'when the catalog works', end: answerWith(503) },
  {
    what: 'a lost connection',
    message: 'does not answer',
    fix: 'when the catalog works',
    end: (response) => response.destroy(),
  },
  {
    what: 'a lost answer to a commit that was made',
    message: 'does not answer',
    fix: 'when the catalog works',
    isMade: true,
    end: (response) => response.destroy(),
  },
]

/** Makes the catalog answer commits of tables with a fault. */
function failCommits(server: MemoryCatalog, { isMade = false, end }: Fault): void {
  server.intercept = ({ method, path, when }, response) => {
    if (method !== 'POST' || !path.endsWith('/tables/ledger') || when !== (isMade ? 'after' : 'before'))
      return false
    end(response)
    return true
  }
}

test('whatever a catalog answers to a commit, the export is complete and the next run commits', async () => {
  const server = await startMemoryCatalog()
  const { chain, job } = await firstNight({ ...SMALL, catalog: server.catalog })
  chain.advance(100)
  for (const [at, fault] of FAULTS.entries()) {
    failCommits(server, fault)
    await expect(at === 0 ? runOnce(job) : commit(job), fault.what).rejects.toMatchObject({
      code: 'CATALOG_FAILED',
      message: expect.stringContaining(fault.message),
      fix: expect.stringMatching(new RegExp(`^The files of the export are complete.*${fault.fix}`)),
    })
    server.intercept = undefined
    expect(await compareSnapshots(job, readManifest(job.output))).toHaveLength(fault.isMade ? 0 : 1)
  }
  await runOnce(job)
  await expectCurrent(job)
  expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(2)
})

test.for(LAKE_KINDS)(
  'of two writers in %s, the second is told that its commit was not made',
  async (kind) => {
    const lake = await LAKES[kind]()
    const { chain, job } = await firstNight({ ...SMALL, ...lake.fields })
    const restore = lake.remember(job)
    chain.advance(50)
    await runOnce(job)
    restore()
    const slow = await openStore(job)
    lake.unlock()
    const store: LakeStore = {
      folder: slow.folder,
      read: async (path) => {
        // By now the slow writer has loaded the table.
        await commit(job)
        return slow.read(path)
      },
      ensureLocal: (files) => slow.ensureLocal(files),
      pathsBelow: (folder) => slow.pathsBelow(folder),
      create: (path, content) => slow.create(path, content),
      putText: (path, text) => slow.putText(path, text),
      remove: (path) => slow.remove(path),
    }
    await expect(commitToCatalog({ store, location: job.store })).rejects.toMatchObject({
      code: 'CATALOG_FAILED',
      message: expect.stringContaining('another program has changed table ledger'),
      fix: expect.stringContaining('the commit of the other program stands'),
    })
    await slow.close()
    expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(2)
    await expectCurrent(job)
  },
)

test('two exports cannot share the tables of a catalog', async () => {
  const { catalog } = await startMemoryCatalog()
  const { job } = await firstNight({ ...SMALL, catalog })
  const { snapshots } = await metadataOf(job, 'ledger')
  await expect(runOnce(inNewFolder(job))).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    message: expect.stringContaining(`table ledger is that of the export file://${job.output}`),
    fix: expect.stringContaining('Give each export a namespace of its own (catalog.namespace)'),
  })
  expect((await metadataOf(job, 'ledger')).snapshots).toEqual(snapshots)
})

test('the tables of a moved folder are not continued, and the message says how to go on', async () => {
  const { job } = await firstNight(SMALL)
  const moved = { ...job, output: join(tempFolder(), 'moved') }
  renameSync(job.output, moved.output)
  await expect(runOnce(moved)).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    fix: expect.stringContaining('move the export back, or remove ledger/metadata'),
  })
  rmSync(join(moved.output, 'ledger', 'metadata'), { recursive: true })
  await runOnce(moved)
  await expectCurrent(moved)
})

test('other partitions of an export with --fresh become other partitions of its tables', {
  tags: ['long'],
}, async () => {
  const { job } = await firstNight({ ...SMALL, partitionBy: 'day' })
  const monthly = { ...job, partitionBy: 'month' } as const
  await runOnce(monthly, { fresh: true })
  await expectCurrent(monthly)
  const { 'partition-specs': specs, snapshots, ...metadata } = await metadataOf(job, 'ledger')
  expect(specs.map(({ fields }) => fields.map((field) => [field['field-id'], field.transform]))).toEqual([
    [[1000, 'day']],
    [[1001, 'month']],
  ])
  expect([metadata['default-spec-id'], metadata['last-partition-id']]).toEqual([1, 1001])
  for (const { file_path, partition } of await filesOf(job, snapshots[1])) {
    const [, year, month] = /month=(\d+)-(\d+)/.exec(file_path) ?? []
    expect(partition).toEqual({ block_timestamp_month: (Number(year) - 1970) * 12 + Number(month) - 1 })
  }
  for (const { partition } of await filesOf(job, snapshots[0]))
    expect(partition).toEqual({ block_timestamp_day: expect.any(Number) })
  await runOnce(job, { fresh: true })
  await expectCurrent(job)
  expect((await metadataOf(job, 'ledger'))['default-spec-id']).toBe(0)
})

test('a compaction after a killed commit replaces only what it has rewritten', {
  tags: ['long'],
}, async () => {
  const { remember } = await LAKES['a folder']()
  const { chain, job } = await firstNight(SMALL)
  const restore = remember(job)
  chain.advance(100)
  await runOnce(job)
  restore()
  await mergeFiles(job)
  await expectCurrent(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'append', 'replace'])
})

test('verify, status, compact and expire know the tables of an object store', {
  tags: ['long'],
}, async () => {
  const { fields, remember } = await LAKES['an object store']()
  const { chain, job } = await firstNight({ ...SMALL, ...fields })
  const restore = remember(job)
  chain.advance(100)
  await runOnce(job)
  restore()
  const target = { output: tempFolder(), store: job.store }
  expect((await inspectOutput(target)).iceberg?.tables).toMatchObject([{ table: 'ledger', isCurrent: false }])
  const verdict = await verifyOutput(job.output, { store: job.store })
  expect([verdict.isCommitted, verdict.problems]).toEqual([
    false,
    [expect.stringContaining('ledger: the current snapshot lacks s3://lake/every night/100%/ledger/')],
  ])
  await mergeFiles(job)
  await expectCurrent(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'append', 'replace'])
  expect((await inspectOutput(target)).iceberg?.tables).toMatchObject([{ snapshots: 3, isCurrent: true }])
  const expired = await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: false })
  expect([expired.snapshots, expired.files.filter((path) => path.endsWith('.parquet')).length]).toEqual([
    2, 2,
  ])
  await expectCurrent(job)
  await fetchToFolder(job)
  await expectValid(job.output, { store: job.store })
})

test('a catalog that writes types without spaces does not get a schema every night', async () => {
  const server = await startMemoryCatalog()
  const { job } = await firstNight({ ...SMALL, catalog: server.catalog, numbers: 'decimal' })
  for (const [name, metadata] of server.tables)
    server.tables.set(name, JSON.parse(JSON.stringify(metadata).replaceAll('decimal(38, ', 'decimal(38,')))
  expect(await commit(job)).toEqual([])
})
