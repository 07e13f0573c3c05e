import type { Manifest } from '../core/model/manifest.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type Catalog, type LakeFiles, pathOf } from './catalog.ts'
import { versionOf } from './file-catalog.ts'
import { liveEntries, readManifestList } from './live-files.ts'
import type { ManifestFile } from './manifest-files.ts'
import { currentSnapshot, type Snapshot, type TableMetadata } from './metadata.ts'

/** What `expire` removes from an export. */
export type Expired = {
  /** Snapshots, over all tables. */
  snapshots: number
  /** Paths of the files that no remaining snapshot, and not the manifest, refers to. */
  files: string[]
}

export type ExpireOptions = { beforeMs: number; isDryRun: boolean }

/** Files that are read or removed at once. */
const CONCURRENT_FILES = 8

/**
 * Removes snapshots that are older than a time, but none that a branch or tag names, then the files that nothing refers to
 * any more. If it is interrupted, the next call removes the files that are left.
 */
export async function expireSnapshots(
  { catalog, files }: { catalog: Catalog; files: LakeFiles },
  { tables }: Pick<Manifest, 'tables'>,
  { beforeMs, isDryRun }: ExpireOptions,
): Promise<Expired> {
  const expired: Expired = { snapshots: 0, files: [] }
  const limit = limitConcurrency(CONCURRENT_FILES)
  for (const [name, table] of Object.entries(tables)) {
    const metadata = await catalog.load(name)
    if (metadata === undefined) continue
    const old = expirable(metadata, beforeMs)
    expired.snapshots += old.length
    const ids = old.map((snapshot) => snapshot['snapshot-id'])
    if (!isDryRun && ids.length > 0)
      await catalog.commit(name, metadata, [{ action: 'remove-snapshots', 'snapshot-ids': ids }])
    const kept = metadata.snapshots.filter((snapshot) => !old.includes(snapshot))
    const referenced = await referencedPaths(files, kept)
    for (const { path } of table.files) referenced.add(path)
    const removable = (await files.list(name)).filter(
      (path) => !referenced.has(path) && isRemovable(path, metadata),
    )
    if (!isDryRun) await Promise.all(removable.map((path) => limit(() => files.remove(path))))
    expired.files = expired.files.concat(removable)
  }
  return expired
}

/** Snapshots that are older than a time and that neither the table nor a branch or tag names. */
function expirable(metadata: TableMetadata, beforeMs: number): Snapshot[] {
  const named = new Set(Object.values(metadata.refs).map((ref) => ref['snapshot-id']))
  const current = currentSnapshot(metadata)
  return metadata.snapshots.filter(
    (snapshot) =>
      snapshot !== current && !named.has(snapshot['snapshot-id']) && snapshot['timestamp-ms'] < beforeMs,
  )
}

/** Paths of the manifest lists, manifests and data files of snapshots. */
async function referencedPaths(files: LakeFiles, snapshots: readonly Snapshot[]): Promise<Set<string>> {
  const limit = limitConcurrency(CONCURRENT_FILES)
  const lists = await Promise.all(snapshots.map((each) => limit(() => readManifestList(files, each))))
  const manifests = new Map<string, ManifestFile>(lists.flat().map((each) => [each.manifest_path, each]))
  const live = await liveEntries(files, [...manifests.values()])
  const locations = [
    ...snapshots.map((snapshot) => snapshot['manifest-list']),
    ...manifests.keys(),
    ...live.keys(),
  ]
  return new Set(locations.map((location) => pathOf(files, location)))
}

/** Parquet and Avro files of the table, and metadata files that its log no longer names. */
function isRemovable(path: string, metadata: TableMetadata): boolean {
  if (/\.(?:parquet|avro)$/.test(path)) return true
  // The two newest stay: a reader may have read the hint before the last commit.
  const [newest] = metadata['metadata-log'].slice(-1)
  const version = versionOf(path)
  return version > 0 && newest !== undefined && version < versionOf(newest['metadata-file'])
}
