import { removeCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { type ExportError, toExportError } from '../core/model/errors.ts'
import { RECONCILIATION_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { clockLagOf, endRunStats, type RunStats, recordWholeExport } from '../core/model/run-stats.ts'
import { sumUnknowns } from '../core/model/unknowns.ts'
import { trackCreatedFolders } from '../core/platform/created-folders.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { discardChanges } from '../files/changes.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import { openStore } from '../storage/open-store.ts'
import type { Store } from '../storage/store.ts'
import { checkForeignFiles, requireOwnManifest } from './foreign-files.ts'
import { clearComplete, isJobComplete, markComplete, privateFolder } from './private-folder.ts'
import { type PreviousExport, removedWallets } from './resume/previous-export.ts'

/** A run of one job, on one machine or distributed over several. */
export type JobRun = {
  job: Job
  stats: RunStats
  /** Delete the checkpoint and start over. */
  fresh: boolean
  /** Ends requests to the store of the job; see `openBucket`. */
  signal: AbortSignal
  onNotice: (notice: string) => void
  /** Id of the run, for the snapshots of Iceberg tables. */
  runId?: string | undefined
}

/** Creates and publishes the files of a job. The caller holds the lock of the output. */
export type MakeExport = (store: Store) => Promise<JobResult['state']>

export type JobResult = {
  job: Job
  /**
   * `complete`: all files are published. `unchanged`: they were already. `incomplete`: blocks, wallets or new
   * transactions are missing.
   */
  state: 'complete' | 'unchanged' | 'incomplete' | 'failed'
  error: ExportError | undefined
}

/**
 * Runs one job: locks the output, returns early if exactly this job is exported already, and otherwise calls
 * `make`. Never throws: an error is part of the result, and received pages stay in the checkpoint for a
 * resume.
 */
export async function runExport(run: JobRun, make: MakeExport): Promise<JobResult> {
  // The wall clock may jump while the job runs; its duration must not.
  const clockOffset = Date.now() - performance.now()
  const result = await tryExport(run, make)
  endRunStats(run.stats, result.error, Math.round(clockOffset + performance.now()))
  return result
}

async function tryExport(run: JobRun, make: MakeExport): Promise<JobResult> {
  const { job, stats } = run
  const folder = privateFolder(job)
  const folders = await trackCreatedFolders(folder)
  try {
    await assertNoSpecialEntries(job.output, 'OUTPUT_FAILED')
    const notice = await checkForeignFiles(job.output)
    if (notice !== undefined) run.onNotice(`${job.name}: ${notice}`)
    const release = await lockOutput(folder)
    try {
      return { job, state: await exportToStore(run, make), error: undefined }
    } catch (thrown) {
      // A checkpoint without pages is useless to a later run.
      if (folders.isNew && stats.pages === 0) await removeCheckpoint(folder).catch(() => undefined)
      throw thrown
    } finally {
      await release()
    }
  } catch (thrown) {
    await folders.removeEmpty()
    return { job, state: 'failed', error: toExportError(thrown) }
  }
}

async function exportToStore(run: JobRun, make: MakeExport): Promise<JobResult['state']> {
  const store = await openStore(run.job, run.signal)
  try {
    const state = await exportUnlessComplete({ ...run, store }, make)
    if (run.job.table === 'iceberg') await commitTables(run, store)
    return state
  } finally {
    await store.close()
  }
}

/** Commits the export to its Iceberg tables, also if a run before this one was killed before it could. */
async function commitTables({ job, signal, runId }: JobRun, store: Store): Promise<void> {
  const { commitToCatalog } = await import('../iceberg/index.ts')
  await commitToCatalog({ store, location: job.store, signal }, { runId })
}

async function exportUnlessComplete(
  run: JobRun & { store: Store },
  make: MakeExport,
): Promise<JobResult['state']> {
  const { job, store, stats, fresh } = run
  const folder = privateFolder(job)
  await requireOwnManifest(store)
  if (!fresh) {
    await requireSafeManifest(job.output)
    const manifest = await readManifestIfExists(job.output).catch(() => undefined)
    // An export that lacks wallets does not count as complete.
    const isComplete = manifest?.coverage.every(({ error }) => error === undefined)
    if (manifest !== undefined && isComplete) stats.earlier = sumUnknowns([manifest])
  }
  if (fresh) await resetOutput(store, folder)
  else if (await isJobComplete(job, store)) {
    await removeCheckpoint(folder)
    await restoreStats(job, stats)
    Object.assign(stats, { endBlock: job.endBlock, completeTo: job.endBlock })
    return 'unchanged'
  }
  return recordCompletion(run, await make(store))
}

/** Marks the job as complete if nothing is left to read; otherwise a later run continues. */
async function recordCompletion(
  { job, stats }: JobRun,
  state: JobResult['state'],
): Promise<JobResult['state']> {
  const isIncomplete =
    state === 'incomplete' ||
    stats.refused.length + stats.incomplete.length > 0 ||
    clockLagOf(stats) !== undefined
  if (isIncomplete || isOpen(job, stats)) {
    await clearComplete(privateFolder(job))
    return isIncomplete ? 'incomplete' : state
  }
  await markComplete(job)
  return 'complete'
}

/** Reports the wallets of the export that were removed from the job. */
export function noticeRemovedWallets(
  { job, onNotice }: Pick<JobRun, 'job' | 'onNotice'>,
  previous: PreviousExport,
): void {
  const removed = removedWallets(job, previous)
  if (removed.length === 0) return
  const [only] = removed
  const last = removed.reduce((max, { toBlock }) => Math.max(max, toBlock), 0) - 1
  const walletsText =
    removed.length === 1 && only !== undefined
      ? `wallet ${only.address} is no longer in the job; its rows up to block ${last} are retained`
      : `${removed.length} wallets are no longer in the job; their rows up to at most block ${last} are retained`
  onNotice(`${job.name}: ${walletsText}`)
}

async function resetOutput(store: Store, folder: string): Promise<void> {
  await discardChanges(store)
  // What `reconcile` learned of the discarded export may be about another chain or service.
  await store.remove(RECONCILIATION_FILE)
  await store.removeManifestBackup()
  await removeCheckpoint(folder)
  await clearComplete(folder)
}

/** Whether later runs continue: the job has no endBlock, or it was not indexed when a wallet was read. */
export function isOpen({ endBlock, kind }: Job, stats: Pick<RunStats, 'completeTo'>): boolean {
  if (endBlock === undefined) return true
  return kind === 'wallets' && stats.completeTo !== undefined && stats.completeTo < endBlock
}

/** Loads the counts of the existing export, for the summary and the exit code of this run. */
export async function restoreStats(job: Job, stats: RunStats): Promise<void> {
  const manifest = await readManifestIfExists(job.output)
  if (manifest !== undefined) recordWholeExport(stats, manifest)
}
