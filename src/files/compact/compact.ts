import { join } from 'node:path'
import { firstCheckpointedBlock } from '../../checkpoint/inspect-checkpoint.ts'
import { type Manifest, PRIVATE_FOLDER } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../../core/model/parts-folder.ts'
import { lockOutput } from '../../core/platform/lock/lock.ts'
import { TABLES } from '../../core/table/index.ts'
import { requireManifest } from '../../read/dataset.ts'
import { inspectStore, openStore } from '../../storage/open-store.ts'
import type { Store } from '../../storage/store.ts'
import { publish, removeOrphans } from '../publish.ts'
import { compactTable } from './compact-table.ts'

export type CompactOptions = {
  /** Maximum number of rows in a file. @default 1000000 */
  maxRowsPerFile?: number
}

/** An output folder, or an object store location with its local work folder. */
export type OutputLocation = Pick<Job, 'output' | 'store'>

export type CompactionResult = {
  /** Number of files that the manifest listed before and lists after. Equal if there was nothing to merge. */
  before: number
  after: number
  changed: boolean
  /** Number of removed part files that no manifest listed, such as those of a killed run. */
  orphans: number
}

/**
 * Merges the small files of an output, such as those appended by incremental runs, into fewer ones. Rows, their order,
 * coverage and rejects do not change. If it is interrupted, the output is entirely the old one or entirely the new one.
 *
 * Throws USAGE if there is no export, OUTPUT_LOCKED, VERIFY_FAILED if the manifest is damaged or a file does not match it,
 * OUTPUT_FAILED, and CATALOG_FAILED for Iceberg tables.
 */
export async function compactOutput(
  target: string | OutputLocation,
  options: CompactOptions = {},
): Promise<CompactionResult> {
  const location = typeof target === 'string' ? { output: target } : target
  await inspectStore(location)
  await requireManifest(location.output)
  const release = await lockOutput(join(location.output, PRIVATE_FOLDER))
  try {
    const store = await openStore(location)
    try {
      const result = await compactLocked(store, options.maxRowsPerFile ?? 1_000_000)
      const { commitToCatalog } = await import('../../iceberg/index.ts')
      await commitToCatalog({ store, location: location.store }, { isRewrite: true })
      return result
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}

async function compactLocked(store: Store, maxRows: number): Promise<CompactionResult> {
  const output = store.folder
  const manifest = await requireManifest(output)
  const privateFolder = join(output, PRIVATE_FOLDER)
  // The checkpoint has pages from this block on only. A file that begins here lets the next run continue from it.
  const lookback = await firstCheckpointedBlock(privateFolder)
  const listed = Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path))
  await store.confirmManifest()
  // Earlier snapshots of an Iceberg table list files that the manifest no longer lists.
  const isIceberg = manifest.job.table === 'iceberg'
  const orphans = isIceberg ? 0 : await removeOrphans(store, new Set(listed))
  const tables: Manifest['tables'] = {}
  const parts = []
  const folder = await makePartsFolder(privateFolder)
  try {
    for (const table of TABLES) {
      const listed = manifest.tables[table.name]
      if (listed === undefined) continue
      await store.ensureLocal(listed.files)
      const { format, compression } = manifest.job
      const source = { output, folder, table, files: listed.files, format, compression }
      const compact = await compactTable({ ...source, maxRows, lookback })
      tables[table.name] = { ...listed, files: compact.files }
      for (const each of compact.parts) parts.push(each)
    }
    if (parts.length > 0)
      await publish({ store, manifest: { ...manifest, tables }, parts, rejects: undefined })
  } finally {
    await removePartsFolder(folder)
  }
  return {
    before: countFiles(manifest.tables),
    after: countFiles(tables),
    changed: parts.length > 0,
    orphans,
  }
}

function countFiles(tables: Manifest['tables']): number {
  return Object.values(tables).reduce((sum, { files }) => sum + files.length, 0)
}
