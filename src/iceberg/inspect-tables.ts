import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, type ManifestFile } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { exportReplacedError } from '../read/replaced-export.ts'
import type { LakeReader, TableReader } from './catalog.ts'
import { openTables } from './commit-export.ts'
import { FILES_PROPERTY, filesWithRows, hashFiles, liveEntries, readManifestList } from './live-files.ts'
import { currentSnapshot } from './metadata.ts'

/** The current snapshot of a table of an export. */
export type TableState = {
  table: string
  /** Null if the table does not exist, or has no snapshot yet. */
  snapshotId: number | null
  /** ISO time. */
  committedAt: string | null
  /** Number of snapshots that can be read by time travel. */
  snapshots: number
  /** Whether the snapshot lists the files of the manifest, as its properties state. */
  isCurrent: boolean
}

/**
 * Returns the current snapshots of the tables of an export. Reads only metadata.
 *
 * @throws CATALOG_FAILED, OUTPUT_FAILED
 */
export async function inspectTables(
  target: Pick<Job, 'output' | 'store'>,
  manifest: Pick<Manifest, 'job' | 'tables'>,
): Promise<TableState[]> {
  const { catalog, close } = await openTables(target, manifest)
  try {
    const states: TableState[] = []
    for (const [table, { files }] of Object.entries(manifest.tables)) {
      const metadata = await catalog.load(table)
      const snapshot = metadata && currentSnapshot(metadata)
      const isEmpty = metadata !== undefined && filesWithRows(files).length === 0
      states.push({
        table,
        snapshotId: snapshot?.['snapshot-id'] ?? null,
        committedAt: snapshot === undefined ? null : new Date(snapshot['timestamp-ms']).toISOString(),
        snapshots: metadata?.snapshots.length ?? 0,
        isCurrent: snapshot === undefined ? isEmpty : snapshot.summary[FILES_PROPERTY] === hashFiles(files),
      })
    }
    return states
  } finally {
    close()
  }
}

/**
 * Compares the files that the current snapshots list with those of the manifest.
 *
 * @param target `output`: the folder of the export, or a copy of the one in an object store
 * @returns a line for each table whose snapshot lists other files or cannot be read; empty if all agree
 * @throws OUTPUT_LOCKED if another run has replaced the export since it was copied
 */
export async function compareSnapshots(
  target: Pick<Job, 'output' | 'store'>,
  manifest: Pick<Manifest, 'job' | 'tables'>,
): Promise<string[]> {
  const reasonOf = (error: unknown) => `the tables cannot be compared: ${toExportError(error).message}`
  const opened = await openTables(target, manifest).catch(reasonOf)
  if (typeof opened === 'string') return [opened]
  try {
    const problems: string[] = []
    for (const [name, { files }] of Object.entries(manifest.tables)) {
      const problem = await compareTable(opened, name, files).catch(reasonOf)
      if (problem !== undefined) problems.push(`${name}: ${problem}`)
    }
    const copy = await readFile(join(target.output, MANIFEST_FILE))
    if (problems.length > 0 && !(await opened.files.read(MANIFEST_FILE)).equals(copy))
      throw exportReplacedError(opened.files.base)
    return problems
  } finally {
    opened.close()
  }
}

async function compareTable(
  { catalog, files }: { catalog: TableReader; files: LakeReader },
  name: string,
  listedFiles: readonly ManifestFile[],
): Promise<string | undefined> {
  const metadata = await catalog.load(name)
  if (metadata === undefined) return `there is no such table in ${catalog.name}`
  const live = await liveEntries(files, await readManifestList(files, currentSnapshot(metadata)))
  const listed = new Set(
    [...live].map(([location, { data_file }]) => `${location} ${data_file.record_count}`),
  )
  const expected = filesWithRows(listedFiles).map(({ path, rows }) => `${files.base}/${path} ${rows}`)
  const missing = expected.find((file) => !listed.has(file))
  if (missing !== undefined) return `the current snapshot lacks ${missing}`
  const surplus = [...listed].find((file) => !expected.includes(file))
  return surplus === undefined ? undefined : `the current snapshot also lists ${surplus}`
}
