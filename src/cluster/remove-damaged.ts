import { ExportError } from '../core/model/errors.ts'
import { MANIFEST_FILE } from '../core/model/manifest.ts'
import { sourceOf } from '../sources/index.ts'
import type { Source } from '../sources/source.ts'
import { isDamagedPage, isPage } from '../transform/merge/page-items.ts'
import {
  loadSelection,
  openReadPages,
  pagesPath,
  type ReadResult,
  type ReadSelection,
  removeReads,
} from './read-results.ts'
import { fingerprintsPath, partitionPath, type RunState, verifiedPath } from './run-state.ts'
import type { QueueRun } from './shared-requests.ts'
import { openPartition, WRITE_RESULTS, type WriteResult } from './write-results.ts'

type Attempt = Pick<QueueRun, 'runState' | 'plan'>

/**
 * After a failure, removes reads and partitions whose files do not match their record, so that the run
 * recreates them. Resolves with whether there were any. Never throws.
 */
export async function removeDamaged(
  { runState, plan }: Attempt,
  { selection, writes }: { selection: ReadSelection; writes: readonly WriteResult[] },
  error: unknown,
): Promise<boolean> {
  const hasDamagedPage = isDamagedPage(error)
  const isDamage = hasDamagedPage || (error instanceof ExportError && error.code === 'OUTPUT_FAILED')
  if (!isDamage) return false
  // Files that were verified earlier may have changed since.
  const unverified = { ...runState, verified: new Map<string, Promise<string>>() }
  try {
    const checked = hasDamagedPage ? sourceOf(plan.job.service.api) : undefined
    const reads: ReadResult[] = []
    for (const read of selection.reads) if (!(await isReadIntact(unverified, read, checked))) reads.push(read)
    const partitions: WriteResult[] = []
    for (const write of writes)
      if (!(await isWriteIntact({ runState: unverified, plan }, write))) partitions.push(write)
    // Another worker may have found the same damage, and the pages may have been read again since.
    const isCurrent = (await loadSelection(runState, plan))?.sha256 === selection.sha256
    if (reads.length > 0 && isCurrent) await removeReads(runState, reads)
    for (const { token } of partitions) await WRITE_RESULTS.remove(runState, token)
    return reads.length + partitions.length > 0
  } catch {
    return false
  }
}

/** @param source reads the pages; undefined if they need not be checked */
async function isReadIntact(
  runState: RunState,
  read: ReadResult,
  source: Source | undefined,
): Promise<boolean> {
  if (!(await isStored(runState, pagesPath(read.token)))) return false
  try {
    const log = await openReadPages(runState, read)
    if (source !== undefined)
      for await (const { body } of log.read(({ items }) => items > 0)) if (!isPage(body, source)) return false
    return true
  } catch {
    return false
  }
}

async function isWriteIntact({ runState, plan }: Attempt, write: WriteResult): Promise<boolean> {
  const { token, fingerprints } = write
  const paths = [fingerprintsPath(token), partitionPath(token, MANIFEST_FILE)]
  for (const path of paths) if (!(await isStored(runState, path))) return false
  try {
    await verifiedPath(runState, fingerprintsPath(token), fingerprints)
    await openPartition({ runState, plan }, write)
    return true
  } catch {
    return false
  }
}

/** Whether an object exists. Throws if that cannot be determined or the object cannot be copied to this machine. */
async function isStored({ objects, at }: RunState, path: string): Promise<boolean> {
  const exists = (await objects.paths(at(path))).includes(at(path))
  if (exists) await objects.localPath(at(path))
  return exists
}
