import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { expireOutput } from '../../src/iceberg/index.ts'
import { decodeManifestList } from '../../src/iceberg/manifest-files.ts'
import { currentSnapshot } from '../../src/iceberg/metadata.ts'
import { runCommand } from '../helpers/command.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { forked, mergeFiles, runOnce } from '../helpers/growing-chain.ts'
import { readManifest, readParquetTable } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { expectCurrent, filesOf, firstNight, locationsIn, metadataOf, readLocation } from './lake.ts'

const metadataFolder = (output: string, table: string) => join(output, table, 'metadata')

test('each run commits one snapshot per table that it changes, and earlier ones stay readable', async () => {
  const { chain, job } = await firstNight({ tables: DEFAULT_TABLES })
  await expectCurrent(job)
  const first = currentSnapshot(await metadataOf(job, 'ledger'))
  const before = await filesOf(job, first)
  chain.advance(100)
  await runOnce(job)
  await expectCurrent(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'append'])
  expect(snapshots[1]?.['parent-snapshot-id']).toBe(snapshots[0]?.['snapshot-id'])
  expect(await filesOf(job, first)).toEqual(before)
  await runOnce(job)
  expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(2)
})

test('a reorg replaces files in an overwrite, and last night is still there', async () => {
  const { chain, job } = await firstNight()
  const night = await locationsIn(job, currentSnapshot(await metadataOf(job, 'ledger')))
  chain.listing.view = forked(199, 200)
  chain.advance(50)
  await runOnce(job)
  await expectCurrent(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.map(({ summary }) => summary.operation)).toEqual(['append', 'overwrite'])
  expect(await locationsIn(job, snapshots[0])).toEqual(night)
  for (const path of night) expect(readLocation(path).length).toBeGreaterThan(0)
})

test('files state the ids, bounds and partitions of their columns', async () => {
  const { job } = await firstNight({ partitionBy: 'day' })
  const metadata = await metadataOf(job, 'ledger')
  const idOf = (name: string) => metadata.schemas[0]?.fields.find((field) => field.name === name)?.id
  expect([idOf('chain_id'), idOf('block_number'), idOf('source')]).toEqual([1, 2, 24])
  const rows = await readParquetTable(job.output, 'ledger')
  const files = await filesOf(job, currentSnapshot(metadata))
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

test('a commit that a kill prevented is made by the next run', { tags: ['long'] }, async () => {
  const { chain, job } = await firstNight()
  chain.advance(100)
  await runOnce(job)
  // What a kill after the manifest and before the commit leaves: the metadata of the night before.
  for (const table of ['ledger', 'transactions'])
    for (const name of readdirSync(metadataFolder(job.output, table)))
      if (/^v3|hint/.test(name)) rmSync(join(metadataFolder(job.output, table), name))
  const { exit, stdout, stderr } = await runCommand(['verify', job.output])
  expect([exit, stdout]).toEqual([10, expect.stringContaining('ledger: the current snapshot lacks')])
  expect(stderr).toContain('Run the job again: it commits what its Iceberg tables lack')
  const before = await runCommand(['status', job.output])
  expect(before.stdout).toContain('not committed to Iceberg: transactions, ledger; run the job again')
  await runOnce(job)
  await expectCurrent(job)
  await expectValid(job.output)
  const after = await runCommand(['status', job.output])
  expect(after.stdout).toMatch(/Iceberg tables: last commit [\d-]+ [\d:]+ UTC, up to 2 snapshots each/)
  expect(after.stdout).not.toContain('not committed')
})

test('compact commits a replace, and expire removes what only old snapshots refer to', async () => {
  const { chain, job } = await firstNight()
  for (const _ of [1, 2]) {
    chain.advance(60)
    await runOnce(job)
  }
  await mergeFiles(job)
  await expectCurrent(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.at(-1)?.summary).toMatchObject({ operation: 'replace' })
  expect(snapshots.at(-1)?.summary['total-records']).toBe(snapshots.at(-2)?.summary['total-records'])
  const partsIn = () => readdirSync(join(job.output, 'ledger')).filter((name) => name.endsWith('.parquet'))
  expect(partsIn().length).toBeGreaterThan(1)
  const dryRun = await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: true })
  expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(snapshots.length)
  const expired = await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: false })
  expect(expired.snapshots).toBe(dryRun.snapshots)
  expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(1)
  const { files = [] } = readManifest(job.output).tables.ledger ?? {}
  expect(partsIn().sort()).toEqual(files.map(({ path }) => basename(path)).sort())
  await expectCurrent(job)
  chain.advance(20)
  await runOnce(job)
  await expectCurrent(job)
})

test('manifests do not grow in number with every night', { tags: ['long'] }, async () => {
  const { chain, job } = await firstNight({ count: 2, tables: ['ledger'] })
  for (let night = 0; night < 40; night += 1) {
    chain.advance(5)
    await runOnce(job)
  }
  await expectCurrent(job)
  const snapshot = currentSnapshot(await metadataOf(job, 'ledger'))
  expect(
    (await decodeManifestList(readLocation(snapshot?.['manifest-list'] ?? ''))).length,
  ).toBeLessThanOrEqual(31)
})

test('does not overwrite a snapshot of another program', async () => {
  const { chain, job } = await firstNight({ tables: ['ledger'] })
  const metadata = await metadataOf(job, 'ledger')
  const [snapshot] = metadata.snapshots
  if (snapshot !== undefined) snapshot.summary = { operation: 'replace' }
  writeFileSync(join(metadataFolder(job.output, 'ledger'), 'v2.metadata.json'), JSON.stringify(metadata))
  chain.advance(50)
  await expect(runOnce(job)).rejects.toMatchObject({
    code: 'CATALOG_FAILED',
    message: expect.stringContaining('table ledger: another program has written its current snapshot'),
  })
})

test('locations are plain text, as readers take them, whatever the name of the folder', async () => {
  const { job } = await firstNight({
    count: 2,
    tables: ['ledger'],
    output: join(tempFolder(), 'zwölf 100% #1'),
  })
  const metadata = await metadataOf(job, 'ledger')
  expect(metadata.location).toBe(`file://${job.output}/ledger`)
  const [file] = await filesOf(job, currentSnapshot(metadata))
  expect(readLocation(file?.file_path ?? '')).toHaveLength(file?.file_size_in_bytes ?? 0)
  expect(file?.lower_bounds?.length).toBeGreaterThan(10)
})

test('keeps a snapshot that a tag names, and few files of earlier metadata', async () => {
  const { chain, job } = await firstNight({ count: 1, tables: ['ledger'] })
  const folder = metadataFolder(job.output, 'ledger')
  const metadata = await metadataOf(job, 'ledger')
  const refs = { ...metadata.refs, audit: { 'snapshot-id': metadata['current-snapshot-id'], type: 'tag' } }
  writeFileSync(join(folder, 'v2.metadata.json'), JSON.stringify({ ...metadata, refs }))
  // As if the table had many earlier versions.
  for (let version = 3; version < 40; version += 1)
    cpSync(join(folder, 'v2.metadata.json'), join(folder, `v${version}.metadata.json`))
  chain.advance(150)
  await runOnce(job)
  const versions = readdirSync(folder).flatMap((name) => /^v(\d+)\.metadata/.exec(name)?.[1] ?? [])
  expect(versions.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 21 }, (_, at) => at + 20))
  await expireOutput(job, { beforeMs: Date.now() + 1, isDryRun: false })
  const { snapshots } = await metadataOf(job, 'ledger')
  expect(snapshots.map((snapshot) => snapshot['snapshot-id'])).toEqual([
    metadata['current-snapshot-id'],
    expect.any(Number),
  ])
  for (const location of await locationsIn(job, snapshots[0]))
    expect(readLocation(location)).not.toHaveLength(0)
  await expectCurrent(job)
})
