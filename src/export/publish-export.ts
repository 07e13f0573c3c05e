import { join } from 'node:path'
import { endOfExport, type ManifestFile, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { partsFolder } from '../core/model/parts-folder.ts'
import { type Changes, type RunStats, recordExport } from '../core/model/run-stats.ts'
import { makeFolder } from '../core/platform/disk.ts'
import type { TableName } from '../core/table/index.ts'
import { buildManifest, type ManifestSource, type RetainedContent } from '../files/build-manifest.ts'
import { listChanges, recoverChanges } from '../files/changes.ts'
import { type PublishedPart, publish } from '../files/publish.ts'
import type { Store } from '../storage/store.ts'
import { requireOneChain } from '../transform/exported-files.ts'
import { type PreviousExport, removedWallets } from './resume/previous-export.ts'

/** The finished but unpublished files of a run, made by one machine or by many. */
export type PreparedExport = Omit<ManifestSource, 'parts' | 'retained' | 'rejects'> & {
  store: Store
  stats: RunStats
  signal: AbortSignal
  /** The previous export, and the block from which the parts replace it. */
  previous: PreviousExport
  /** Start of the run in milliseconds since 1970. Does not change when the run is resumed. */
  begunMs: number
  parts: ReadonlyMap<TableName, readonly PublishedPart[]>
  /** Resolves with a local path of a part. */
  localPath: (part: PublishedPart) => Promise<string>
  /** Lines of `rejects.ndjson`, sorted. */
  rejects: readonly string[]
  /** Listings whose files in `raw/` belong to the export. */
  raw?: (covered: readonly string[]) => ReadonlySet<string>
}

/**
 * Publishes an export: lists the changes in blocks that were exported before, then replaces the files, and
 * the manifest last. Local and distributed runs both end here.
 *
 * @throws PAGE_MALFORMED if the rows belong to several chains; OUTPUT_FAILED; OUTPUT_LOCKED like the store
 */
export async function publishExport(output: PreparedExport): Promise<void> {
  const { job, store, stats, signal, previous, parts, rejects, raw } = output
  const retained = retainedOf(previous, job)
  const manifest = buildManifest({ ...output, rejects: rejects.length, retained })
  signal.throwIfAborted()
  await requireOneChain({ ...output, retained: retained?.files })
  stats.changes = await findChanges(output)
  const covered = manifest.coverage.map(({ address }) => address)
  await publish({ store, manifest, parts: [...parts.values()].flat(), rejects, raw: raw?.(covered) })
  recordExport(stats, manifest)
}

/** Lists the changes in blocks that were exported before. A resumed run may have listed them already. */
async function findChanges(output: PreparedExport): Promise<Changes | undefined> {
  const { job, store, begunMs, previous, signal, parts, localPath } = output
  const { manifest, from } = previous
  const publishing = { store, run: begunMs }
  const to = manifest === undefined ? from : endOfExport(manifest)
  if (manifest === undefined || from >= to || !previous.isComparable) return recoverChanges(publishing)
  const listed = Object.values(manifest.tables).flatMap(({ files }) => files)
  await store.ensureLocal(listed.filter(({ toBlock }) => toBlock > from))
  const folder = partsFolder(join(job.output, PRIVATE_FOLDER))
  await makeFolder(folder)
  return listChanges({
    ...publishing,
    previousManifest: manifest,
    parts,
    localPath,
    range: { from, to },
    folder,
    signal,
  })
}

/** Returns the retained files and the wallets that were removed from the job. */
function retainedOf(previous: PreviousExport, job: Job): RetainedContent | undefined {
  const { manifest, from } = previous
  if (manifest === undefined) return undefined
  const files = (all: readonly ManifestFile[] = []) => all.filter(({ toBlock }) => toBlock <= from)
  return {
    files: new Map(job.tables.map((name) => [name, files(manifest.tables[name]?.files)])),
    removedWallets: removedWallets(job, previous),
  }
}
