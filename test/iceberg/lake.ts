import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import type { TableName } from '../../src/core/table/index.ts'
import { openTables } from '../../src/iceberg/commit-export.ts'
import { commitToCatalog, compareSnapshots } from '../../src/iceberg/index.ts'
import { decodeManifest, decodeManifestList } from '../../src/iceberg/manifest-files.ts'
import { currentSnapshot, type Snapshot, type TableMetadata } from '../../src/iceberg/metadata.ts'
import { openStore } from '../../src/storage/open-store.ts'
import { growingChain, headJob, runOnce } from '../helpers/growing-chain.ts'
import { startObjectStore } from '../helpers/object-store.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { startMemoryCatalog } from './memory-catalog.ts'

export const ICEBERG = { format: 'parquet', compression: 'zstd', table: 'iceberg' } as const

/** An export of two tables of three wallets after one night. */
export async function firstNight(fields: Parameters<typeof headJob>[1] = {}) {
  const chain = await growingChain(200)
  const job = headJob(chain.url, { ...ICEBERG, count: 3, tables: ['transactions', 'ledger'], ...fields })
  await runOnce(job)
  return { chain, job }
}

type Target = Pick<Job, 'output' | 'store'>

/** Calls a function with the opened tables of an export. */
async function withTables<T>(
  target: Target,
  use: (tables: Awaited<ReturnType<typeof openTables>>) => Promise<T>,
): Promise<T> {
  const tables = await openTables(target, readManifest(target.output))
  try {
    return await use(tables)
  } finally {
    tables.close()
  }
}

/** The current metadata of a table. */
export async function metadataOf(target: Target, table: TableName): Promise<TableMetadata> {
  const metadata = await withTables(target, ({ catalog }) => catalog.load(table))
  if (metadata === undefined) throw new Error(`there is no table ${table}`)
  return metadata
}

/** The live data files of a snapshot, as its manifests list them. */
export async function filesOf(target: Target, snapshot: Snapshot | undefined) {
  if (snapshot === undefined) return []
  return withTables(target, async ({ files }) => {
    const read = (location: string) => files.read(location.slice(files.base.length + 1))
    const manifests = await decodeManifestList(await read(snapshot['manifest-list']))
    const entries = await Promise.all(
      manifests.map(async ({ manifest_path }) => decodeManifest(await read(manifest_path))),
    )
    return entries.flat().flatMap(({ status, data_file }) => (status === 2 ? [] : [data_file]))
  })
}

/** Locations of the files of a snapshot. */
export const locationsIn = async (target: Target, snapshot: Snapshot | undefined) =>
  (await filesOf(target, snapshot)).map(({ file_path }) => file_path).sort()

/**
 * Expects each current snapshot to list every file of the manifest once and no other, so that it has no row twice and lacks
 * none, and readers that trust the hint to see this snapshot.
 */
export async function expectCurrent(target: Target): Promise<void> {
  const manifest = readManifest(target.output)
  for (const [name, { rows, files }] of Object.entries(manifest.tables)) {
    const snapshot = currentSnapshot(await metadataOf(target, name as TableName))
    const listed = await filesOf(target, snapshot)
    const base = await withTables(target, async (tables) => tables.files.base)
    const expected = files.filter((file) => file.rows > 0).map(({ path }) => `${base}/${path}`)
    expect(listed.map(({ file_path }) => file_path).sort()).toEqual(expected.sort())
    expect(listed.reduce((sum, { record_count }) => sum + record_count, 0)).toBe(rows)
  }
  expect(await compareSnapshots(target, manifest)).toEqual([])
  if (manifest.job.catalog === undefined) await expectHints(target)
}

async function expectHints(target: Target): Promise<void> {
  const tables = Object.keys(readManifest(target.output).tables)
  await withTables(target, async ({ files }) => {
    for (const table of tables) {
      const paths = await files.list(`${table}/metadata`)
      const versions = paths.map((path) => Number(/v(\d+)\.metadata\.json$/.exec(path)?.[1] ?? 0))
      const hint = await files.read(`${table}/metadata/version-hint.text`)
      expect([table, hint.toString()]).toEqual([table, String(Math.max(...versions))])
    }
  })
}

/** The bytes of a local location. Locations are not percent-encoded. */
export const readLocation = (location: string): Buffer => readFileSync(location.slice('file://'.length))

/** Where tables are. */
export type Lake = {
  fields: Partial<Job>
  /** Remembers the metadata of the tables; the returned function restores it. */
  remember: (job: Job) => () => void
  /** Lets another process write to the output, as if the lease of this one had expired. */
  unlock: () => void
}

/** Places of tables, by kind. */
export const LAKES = {
  'a folder': async (): Promise<Lake> => ({
    fields: {},
    unlock: () => {},
    remember: ({ output, tables }) => {
      const copy = tempFolder()
      const folders = tables.map((table) => [join(output, table, 'metadata'), join(copy, table)] as const)
      for (const [folder, saved] of folders) cpSync(folder, saved, { recursive: true })
      return () => {
        for (const [folder, saved] of folders) {
          rmSync(folder, { recursive: true })
          cpSync(saved, folder, { recursive: true })
        }
      }
    },
  }),
  'an object store': async (): Promise<Lake> => {
    const { objects, location } = await startObjectStore()
    return {
      fields: { store: { ...location, prefix: 'every night/100%' } },
      unlock: () => void objects.delete('every night/100%/.walletlake/lock.json'),
      remember: () => {
        const saved = [...objects].filter(([key]) => key.includes('/metadata/'))
        return () => {
          for (const key of objects.keys()) if (key.includes('/metadata/')) objects.delete(key)
          for (const [key, content] of saved) objects.set(key, content)
        }
      },
    }
  },
  'a REST catalog': async (): Promise<Lake> => {
    const { catalog, tables } = await startMemoryCatalog()
    return {
      fields: { catalog },
      unlock: () => {},
      remember: () => {
        const saved = structuredClone([...tables])
        return () => {
          for (const [name, metadata] of saved) tables.set(name, metadata)
        }
      },
    }
  },
}

export const LAKE_KINDS = ['a folder', 'an object store', 'a REST catalog'] as const

/** Commits what the manifest of an export lists, as a run does. Resolves with the tables that changed. */
export async function commit(job: Job): Promise<readonly string[]> {
  const store = await openStore(job)
  return commitToCatalog({ store, location: job.store }).finally(() => store.close())
}
