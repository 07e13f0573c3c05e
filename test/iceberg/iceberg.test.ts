import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { expireOutput } from '../../src/iceberg/expire-output.ts'
import { decodeManifest, decodeManifestList } from '../../src/iceberg/manifest-files.ts'
import { currentSnapshot, type TableMetadata } from '../../src/iceberg/metadata.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { forked, growingChain, headJob, mergeFiles, runOnce } from '../helpers/growing-chain.ts'
import { readManifest, readParquetTable } from '../helpers/read-output.ts'

const ICEBERG = { format: 'parquet', compression: 'zstd', table: 'iceberg' } as const

/** An export of six wallets after one night. */
async function firstNight(fields: Parameters<typeof headJob>[1] = {}) {
  const chain = await growingChain(200)
  onTestFinished(chain.end)
  const job = headJob(chain.url, { ...ICEBERG, ...fields })
  await runOnce(job)
  return { chain, job }
}

const metadataFolder = (output: string, table: string) => join(output, table, 'metadata')

function metadataOf(output: string, table: string): TableMetadata {
  const folder = metadataFolder(output, table)
  const version = readFileSync(join(folder, 'version-hint.text'), 'utf8')
  return JSON.parse(readFileSync(join(folder, `v${version}.metadata.json`), 'utf8'))
}

const readUri = (uri: string) => readFileSync(fileURLToPath(uri))

/** The live data files of a snapshot. */
async function filesOf(snapshot: { 'manifest-list': string } | undefined) {
  if (snapshot === undefined) return []
  const manifests = await decodeManifestList(readUri(snapshot['manifest-list']))
  const entries = await Promise.all(
    manifests.map(({ manifest_path }) => decodeManifest(readUri(manifest_path))),
  )
  return entries.flat().flatMap(({ status, data_file }) => (status === 2 ? [] : [data_file]))
}

const pathsOf = async (snapshot: { 'manifest-list': string } | undefined) =>
  (await filesOf(snapshot)).map(({ file_path }) => fileURLToPath(file_path)).sort()

/** Expects each current snapshot to list the files of the manifest, and `verify` to agree. */
async function expectCurrent(output: string) {
  for (const [table, { files }] of Object.entries(readManifest(output).tables)) {
    const listed = files.filter(({ rows }) => rows > 0).map(({ path }) => join(output, path))
    expect(await pathsOf(currentSnapshot(metadataOf(output, table)))).toEqual(listed.sort())
  }
  expect((await verifyOutput(output)).problems).toEqual([])
}

test('each run commits one snapshot per table that it changes, and earlier ones stay readable', async () => {
  const { chain, job } = await firstNight()
  await expectCurrent(job.output)
  const first = currentSnapshot(metadataOf(job.output, 'ledger'))
  const before = await filesOf(first)
  chain.advance(100)
  await runOnce(job)
  await expectCurrent(job.output)
  const { snapshots } = metadataOf(job.output, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'append'])
  expect(snapshots[1]?.['parent-snapshot-id']).toBe(snapshots[0]?.['snapshot-id'])
  expect(await filesOf(first)).toEqual(before)
  await runOnce(job)
  expect(metadataOf(job.output, 'ledger').snapshots).toHaveLength(2)
})

test('a reorg replaces files in an overwrite, and last night is still there', async () => {
  const { chain, job } = await firstNight()
  const night = await pathsOf(currentSnapshot(metadataOf(job.output, 'ledger')))
  chain.listing.view = forked(199, 200)
  chain.advance(50)
  await runOnce(job)
  await expectCurrent(job.output)
  const { snapshots } = metadataOf(job.output, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'overwrite'])
  expect(await pathsOf(snapshots[0])).toEqual(night)
  for (const path of night) expect(readFileSync(path).length).toBeGreaterThan(0)
})

test('files state the ids, bounds and partitions of their columns', async () => {
  const { job } = await firstNight({ partitionBy: 'day' })
  const metadata = metadataOf(job.output, 'ledger')
  const idOf = (name: string) => metadata.schemas[0]?.fields.find((field) => field.name === name)?.id
  expect([idOf('chain_id'), idOf('block_number'), idOf('source')]).toEqual([1, 2, 24])
  const rows = await readParquetTable(job.output, 'ledger')
  const files = await filesOf(currentSnapshot(metadata))
  const bounds = files.map(({ lower_bounds, upper_bounds }) =>
    [lower_bounds, upper_bounds].map((all) =>
      Number(all?.find(({ key }) => key === idOf('block_number'))?.value.readBigInt64LE()),
    ),
  )
  const blocks = rows.map((row) => Number(row.block_number))
  expect([Math.min(...bounds.flat()), Math.max(...bounds.flat())]).toEqual([
    Math.min(...blocks),
    Math.max(...blocks),
  ])
  for (const { file_path, partition, record_count, value_counts } of files) {
    const [, day = ''] = /day=([\d-]+)/.exec(file_path) ?? []
    expect(partition).toEqual({ block_timestamp_day: Date.parse(day) / 86_400_000 })
    expect(value_counts?.find(({ key }) => key === 1)?.value).toBe(record_count)
  }
})

test('a commit that a kill prevented is made by the next run', async () => {
  const { chain, job } = await firstNight()
  chain.advance(100)
  await runOnce(job)
  // What a kill after the manifest and before the commit leaves: the metadata of the night before.
  for (const table of ['ledger', 'transactions'])
    for (const name of readdirSync(metadataFolder(job.output, table)))
      if (/^v3|hint/.test(name)) rmSync(join(metadataFolder(job.output, table), name))
  expect((await verifyOutput(job.output)).problems.join()).toContain('ledger: the current snapshot lacks')
  await runOnce(job)
  await expectCurrent(job.output)
})

test('compact commits a replace, and expire removes what only old snapshots refer to', async () => {
  const { chain, job } = await firstNight()
  for (const _ of [1, 2]) {
    chain.advance(60)
    await runOnce(job)
  }
  await mergeFiles(job)
  await expectCurrent(job.output)
  const { snapshots } = metadataOf(job.output, 'ledger')
  expect(snapshots.at(-1)?.summary).toMatchObject({ operation: 'replace' })
  expect(snapshots.at(-1)?.summary['total-records']).toBe(snapshots.at(-2)?.summary['total-records'])
  const partsIn = () => readdirSync(join(job.output, 'ledger')).filter((name) => name.endsWith('.parquet'))
  expect(partsIn().length).toBeGreaterThan(1)
  const dryRun = await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: true })
  expect(metadataOf(job.output, 'ledger').snapshots).toHaveLength(snapshots.length)
  const expired = await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: false })
  expect(expired.snapshots).toBe(dryRun.snapshots)
  expect(metadataOf(job.output, 'ledger').snapshots).toHaveLength(1)
  const { files = [] } = readManifest(job.output).tables.ledger ?? {}
  expect(partsIn().sort()).toEqual(files.map(({ path }) => basename(path)).sort())
  await expectCurrent(job.output)
  chain.advance(20)
  await runOnce(job)
  await expectCurrent(job.output)
})

test('manifests do not grow in number with every night', { tags: ['long'] }, async () => {
  const { chain, job } = await firstNight({ count: 2, tables: ['ledger'] })
  for (let night = 0; night < 40; night += 1) {
    chain.advance(5)
    await runOnce(job)
  }
  await expectCurrent(job.output)
  const snapshot = currentSnapshot(metadataOf(job.output, 'ledger'))
  expect((await decodeManifestList(readUri(snapshot?.['manifest-list'] ?? ''))).length).toBeLessThanOrEqual(
    31,
  )
})

test('does not overwrite a snapshot of another program', async () => {
  const { chain, job } = await firstNight({ tables: ['ledger'] })
  const metadata = metadataOf(job.output, 'ledger')
  const [snapshot] = metadata.snapshots
  if (snapshot !== undefined) snapshot.summary = { operation: 'replace' }
  writeFileSync(join(metadataFolder(job.output, 'ledger'), 'v2.metadata.json'), JSON.stringify(metadata))
  chain.advance(50)
  await expect(runOnce(job)).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    message: expect.stringContaining('table ledger: another program has written its current snapshot'),
  })
})
