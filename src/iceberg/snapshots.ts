import type { Manifest } from '../core/model/manifest.ts'
import { type Catalog, type LakeFiles, pathOf } from './catalog.ts'
import { DELETED, decodeManifest, decodeManifestList } from './manifest-files.ts'
import { currentSnapshot, type Snapshot, type TableMetadata } from './metadata.ts'
import { liveEntries, readManifestList } from './sync-table.ts'

/**
 * Compares the current snapshots with the manifest of the export.
 *
 * @returns a line for each table whose snapshot lists other files; empty if all agree
 */
export async function compareSnapshots(
  { catalog, files }: { catalog: Catalog; files: LakeFiles },
  { tables }: Pick<Manifest, 'tables'>,
): Promise<string[]> {
  const problems: string[] = []
  for (const [name, table] of Object.entries(tables)) {
    const metadata = await catalog.load(name)
    const live =
      metadata === undefined ? [] : await liveEntries(files, await readManifestList(files, metadata))
    const listed = [...live].map(([uri, { data_file }]) => `${uri} ${data_file.record_count}`)
    const expected = table.files
      .filter(({ rows }) => rows > 0)
      .map(({ path, rows }) => `${files.base}/${path} ${rows}`)
    const surplus = listed.find((file) => !expected.includes(file))
    const missing = expected.find((file) => !listed.includes(file))
    const isNew = metadata === undefined && expected.length === 0
    if (missing !== undefined) problems.push(`${name}: the current snapshot lacks ${missing}`)
    else if (surplus !== undefined) problems.push(`${name}: the current snapshot also lists ${surplus}`)
    else if (isNew) problems.push(`${name}: the catalog has no such table`)
  }
  return problems
}

/** What `expire` removes from an export. */
export type Expired = {
  /** Snapshots, over all tables. */
  snapshots: number
  /** Paths of the files that no remaining snapshot, and not the manifest, refers to. */
  files: string[]
}

/**
 * Removes snapshots that are older than a time, but never the current one, then the files that nothing refers to any more.
 *
 * @param options `beforeMs`: milliseconds since 1970; `isDryRun`: only report
 */
export async function expireSnapshots(
  { catalog, files }: { catalog: Catalog; files: LakeFiles },
  { tables }: Pick<Manifest, 'tables'>,
  { beforeMs, isDryRun }: { beforeMs: number; isDryRun: boolean },
): Promise<Expired> {
  const expired: Expired = { snapshots: 0, files: [] }
  for (const [name, table] of Object.entries(tables)) {
    const metadata = await catalog.load(name)
    if (metadata === undefined) continue
    const current = currentSnapshot(metadata)
    const old = metadata.snapshots.filter((each) => each !== current && each['timestamp-ms'] < beforeMs)
    const kept = metadata.snapshots.filter((each) => !old.includes(each))
    expired.snapshots += old.length
    const ids = old.map((snapshot) => snapshot['snapshot-id'])
    if (!isDryRun && ids.length > 0)
      await catalog.commit(name, metadata, [{ action: 'remove-snapshots', 'snapshot-ids': ids }])
    const referenced = await referencedPaths(files, kept)
    for (const { path } of table.files) referenced.add(path)
    const removable = (await files.list(name)).filter(
      (path) => !referenced.has(path) && isRemovable(path, metadata),
    )
    for (const path of isDryRun ? [] : removable) await files.remove(path)
    expired.files = expired.files.concat(removable)
  }
  return expired
}

/** Paths of the manifest lists, manifests and data files of snapshots. */
async function referencedPaths(files: LakeFiles, snapshots: readonly Snapshot[]): Promise<Set<string>> {
  const paths = new Set<string>()
  for (const snapshot of snapshots) {
    const list = pathOf(files, snapshot['manifest-list'])
    paths.add(list)
    for (const { manifest_path } of await decodeManifestList(await files.read(list))) {
      const manifest = pathOf(files, manifest_path)
      if (paths.has(manifest)) continue
      paths.add(manifest)
      for (const { status, data_file } of await decodeManifest(await files.read(manifest)))
        if (status !== DELETED) paths.add(pathOf(files, data_file.file_path))
    }
  }
  return paths
}

/** Parquet and Avro files of the table, and metadata files that its log no longer names. */
function isRemovable(path: string, metadata: TableMetadata): boolean {
  if (/\.(?:parquet|avro)$/.test(path)) return true
  if (!/\/v\d+\.metadata\.json$/.test(path)) return false
  const [newest] = [...metadata['metadata-log']].slice(-1)
  const version = (text: string) => Number(/\/v(\d+)\.metadata\.json$/.exec(text)?.[1])
  // The two newest stay: a reader may have read the hint before the last commit.
  return newest !== undefined && version(path) < version(newest['metadata-file'])
}
