import { hash } from 'node:crypto'
import type { ManifestFile as ExportFile } from '../core/model/manifest.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { type LakeReader, pathOf } from './catalog.ts'
import {
  DELETED,
  decodeManifest,
  decodeManifestList,
  type ManifestEntry,
  type ManifestFile,
} from './manifest-files.ts'
import type { Snapshot } from './metadata.ts'

/** Manifests that are read at once. */
const CONCURRENT_READS = 8

/** An entry of a manifest that is part of a snapshot, with inherited numbers filled in, and where it was read. */
export type LiveEntry = ManifestEntry & { manifest: ManifestFile }

/** Returns the manifests of a snapshot; none for a table without a snapshot. */
export async function readManifestList(
  files: LakeReader,
  snapshot: Snapshot | undefined,
): Promise<ManifestFile[]> {
  if (snapshot === undefined) return []
  return decodeManifestList(await files.read(pathOf(files, snapshot['manifest-list'])))
}

/** The data files of a snapshot by their locations. */
export async function liveEntries(
  files: LakeReader,
  manifests: readonly ManifestFile[],
): Promise<Map<string, LiveEntry>> {
  const limit = limitConcurrency(CONCURRENT_READS)
  const read = ({ manifest_path }: ManifestFile) =>
    limit(async () => decodeManifest(await files.read(pathOf(files, manifest_path))))
  const contents = await Promise.all(manifests.map(read))
  const live = new Map<string, LiveEntry>()
  for (const [at, manifest] of manifests.entries())
    for (const entry of contents[at] ?? []) {
      if (entry.status === DELETED) continue
      live.set(entry.data_file.file_path, {
        ...entry,
        snapshot_id: entry.snapshot_id ?? manifest.added_snapshot_id,
        sequence_number: entry.sequence_number ?? manifest.sequence_number,
        file_sequence_number: entry.file_sequence_number ?? manifest.sequence_number,
        manifest,
      })
    }
  return live
}

/** Property of snapshots that walletlake commits: a hash of the files that they list. */
export const FILES_PROPERTY = 'walletlake.files-sha256'

/**
 * Returns the hash of the files of a table that have rows, as the property of a snapshot states it. If both are equal, the
 * table is up to date, and nothing but its metadata has to be read.
 */
export function hashFiles(files: readonly ExportFile[]): string {
  const lines = filesWithRows(files).map(({ path, rows }) => `${path} ${rows}\n`)
  return hash('sha256', lines.sort().join(''))
}

export const filesWithRows = (files: readonly ExportFile[]): ExportFile[] =>
  files.filter(({ rows }) => rows > 0)
