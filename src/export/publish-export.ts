import { join } from 'node:path'
import { type ManifestFile, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { partsFolder } from '../core/model/parts-folder.ts'
import { type Changes, type Figures, noteExport } from '../core/model/run-stats.ts'
import { makeFolder } from '../core/platform/disk.ts'
import type { TableName } from '../core/table/index.ts'
import { buildManifest, type Kept, type ManifestSource } from '../files/build-manifest.ts'
import { listChanges } from '../files/list-changes.ts'
import { type PublishedPart, publish } from '../files/publish.ts'
import { recallChanges } from '../files/publish-changes.ts'
import type { Store } from '../storage/store.ts'
import { requireOneChain } from '../transform/require-one-chain.ts'
import { type Earlier, endOfExport, leftWallets } from './resume/previous-export.ts'

/** What a run has made of a job, on one machine or on many, before any of it is published. */
export type MadeExport = Omit<ManifestSource, 'parts' | 'kept' | 'rejects'> & {
  store: Store
  figures: Figures
  signal: AbortSignal
  /** What the output held before, and the block from which on the parts replace it. */
  earlier: Earlier
  /** When the run began, milliseconds since 1970: it and its resumes have this in common. */
  begunMs: number
  parts: ReadonlyMap<TableName, readonly PublishedPart[]>
  /** Where this machine can read a part. */
  localPath: (part: PublishedPart) => Promise<string>
  /** Lines of `rejects.ndjson`, in their order. */
  rejects: readonly string[]
  /** Listings whose files in `raw/` belong to the export. */
  raw?: (covered: readonly string[]) => ReadonlySet<string>
}

/**
 * Publishes an export: lists what changes in blocks exported before, then replaces the files, the manifest last. Every run
 * ends here, whichever machines made its parts. Throws PAGE_MALFORMED where its rows are of several chains, OUTPUT_FAILED, and
 * OUTPUT_LOCKED as the store does.
 */
export async function publishExport(made: MadeExport): Promise<void> {
  const { job, store, figures, signal, earlier, parts, rejects, raw } = made
  const kept = keptOf(earlier, job)
  const manifest = buildManifest({ ...made, rejects: rejects.length, kept })
  signal.throwIfAborted()
  await requireOneChain({ ...made, kept: kept?.files })
  figures.changes = await findChanges(made)
  const covered = manifest.coverage.map(({ address }) => address)
  await publish({ store, manifest, parts: [...parts.values()].flat(), rejects, raw: raw?.(covered) })
  noteExport(figures, manifest)
}

/** What the parts change in blocks that were exported before; a run that is resumed may have listed it already. */
async function findChanges(made: MadeExport): Promise<Changes | undefined> {
  const { job, store, begunMs, earlier, signal, parts, localPath } = made
  const { before, from } = earlier
  const place = { store, run: begunMs }
  const to = before === undefined ? from : endOfExport(before)
  if (before === undefined || from >= to || !earlier.isComparable) return recallChanges(place)
  const listed = Object.values(before.tables).flatMap(({ files }) => files)
  await store.bring(listed.filter(({ toBlock }) => toBlock > from))
  const folder = partsFolder(join(job.output, PRIVATE_FOLDER))
  await makeFolder(folder)
  return listChanges({ ...place, before, parts, localPath, range: { from, to }, folder, signal })
}

/** The files that stay, and the wallets that left the job. */
function keptOf(earlier: Earlier, job: Job): Kept | undefined {
  const { before, from } = earlier
  if (before === undefined) return undefined
  const files = (all: readonly ManifestFile[] = []) => all.filter(({ toBlock }) => toBlock <= from)
  return {
    files: new Map(job.tables.map((name) => [name, files(before.tables[name]?.files)])),
    left: leftWallets(job, earlier),
  }
}
