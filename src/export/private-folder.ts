import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckpointIdentity } from '../checkpoint/checkpoint-identity.ts'
import { hasCheckpoint, removeCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { DEFAULT_API } from '../core/model/api.ts'
import { type Manifest, PRIVATE_FOLDER, REJECTS_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { GENERATOR } from '../core/model/version.ts'
import { PRIVATE_MODE, readTextIfExists, writeAtomically } from '../core/platform/disk.ts'
import { columnDifferences } from '../core/table/schema-changes.ts'
import { readManifestIfExists } from '../files/publish.ts'
import { areFilesInPlace, type FileSizes, findChangedSettings, isSameJob } from './resume/find-export.ts'
import { hasSameWallets } from './resume/previous-export.ts'

/** Path of the folder for the checkpoint and the lock of a job's output. */
export function privateFolder({ output }: Job): string {
  return join(output, PRIVATE_FOLDER)
}

/** The identity that a checkpoint must have so that the job can resume it. */
export function checkpointIdentity({
  kind,
  chain,
  startBlock,
  endBlock,
  finalityMs,
  internals,
  service: { api },
}: Job): CheckpointIdentity {
  const named = api === DEFAULT_API ? {} : { api }
  const common = { chain, startBlock, endBlock: endBlock ?? null, finalityMs, ...named }
  if (kind === 'blocks') return { kind, ...common }
  return internals === 'full' ? { ...common, internals } : common
}

const DONE_FILE = 'done.json'

/** Marks exactly this job as completely exported and deletes the checkpoint, which is no longer needed. */
export async function markComplete(job: Job): Promise<void> {
  const folder = privateFolder(job)
  await writeAtomically(join(folder, DONE_FILE), `${JSON.stringify({ job: jobKey(job) })}\n`, PRIVATE_MODE)
  await removeCheckpoint(folder)
}

/** Removes the marker of `markComplete`. */
export const clearComplete = (folder: string): Promise<void> => rm(join(folder, DONE_FILE), { force: true })

/**
 * Whether exactly this job, with an endBlock, is exported here and every file of the manifest is in place.
 */
export async function isJobComplete(job: Job, store: FileSizes): Promise<boolean> {
  if (job.endBlock === undefined) return false
  const manifest = await readManifestIfExists(job.output)
  if (manifest === undefined) return false
  const marker = await readTextIfExists(join(privateFolder(job), DONE_FILE))
  const isDone =
    marker === undefined
      ? isWhole(job, manifest) && !(await hasCheckpoint(privateFolder(job)))
      : marker.trim() === JSON.stringify({ job: jobKey(job) })
  if (!isDone) return false
  if (columnDifferences(manifest).length > 0) return false
  const sidecars = [...(manifest.rejects > 0 ? [REJECTS_FILE] : []), ...(job.keepRaw ? ['raw'] : [])]
  const sizes = await Promise.all(sidecars.map((path) => store.size(path)))
  return sizes.every((size) => size !== undefined) && (await areFilesInPlace(store, manifest))
}

/**
 * Whether a manifest, without what its run stored beside it, shows that exactly this job is complete. The folder may have
 * been copied or restored without its private folder.
 */
function isWhole(job: Job, manifest: Manifest): boolean {
  const { generator, coverage } = manifest
  const isCovered = coverage.every(
    ({ toBlock, error, gaps, removed }) =>
      removed || (error === undefined && gaps === undefined && toBlock >= (job.endBlock ?? 0)),
  )
  return (
    generator === GENERATOR &&
    job.kind === 'wallets' &&
    !job.keepRaw &&
    isCovered &&
    manifest.rejects === 0 &&
    hasSameWallets(job, manifest) &&
    isSameJob(job, manifest) &&
    findChangedSettings(job, manifest).length === 0
  )
}

/** A hash of all settings that affect the bytes of the output, and of the version of this program. */
function jobKey(job: Job): string {
  const {
    file: _file,
    output: _output,
    store: _store,
    concurrency: _concurrency,
    service: _service,
    ...outputSettings
  } = job
  return createHash('sha256')
    .update(JSON.stringify([GENERATOR, outputSettings]))
    .digest('hex')
}
