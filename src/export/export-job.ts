import { removeCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { type ExportError, toExportError } from '../core/model/errors.ts'
import { type Lookback, NO_LOOKBACK } from '../core/model/lookback.ts'
import { RECONCILIATION_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { clockLagOf, endRunStats, type RunStats } from '../core/model/run-stats.ts'
import { sumUnknowns } from '../core/model/unknowns.ts'
import { trackCreatedFolders } from '../core/platform/created-folders.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { discardChanges } from '../files/changes.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import type { RequestContext } from '../http/request.ts'
import { sourceOf } from '../sources/index.ts'
import { openStore } from '../storage/open-store.ts'
import type { Store } from '../storage/store.ts'
import { isDamagedPage, isPage } from '../transform/merge/page-items.ts'
import { clearComplete, isJobComplete, markComplete } from './completion.ts'
import { CutoffLowered } from './fetch/reading.ts'
import { fetchAndWrite, isOpen, restoreStats, type WriteState } from './fetch-and-write.ts'
import { checkForeignFiles, requireOwnManifest } from './foreign-files.ts'
import { privateFolder } from './private-folder.ts'
import { findExport } from './resume/find-export.ts'
import { firstClosedBlock, reopenReadableGaps } from './resume/gaps.ts'
import { continueExport, isOpenEnded, type PreviousExport, removedWallets } from './resume/previous-export.ts'
import { type StartedRun, startRun } from './resume/start-run.ts'

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

/** A run of one job in this process. */
type LocalRun = JobRun & {
  requestContext: RequestContext
  /** The end of the previous export that is read and written again. */
  lookback: Lookback | undefined
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

/** Runs one job in this process. Never throws (see `runExport`). */
export async function exportJob(run: LocalRun): Promise<JobResult> {
  const { job, lookback = NO_LOOKBACK, onNotice } = run
  const isWanted = lookback.blocks > 0 || lookback.ms > 0
  if (isWanted && !isOpenEnded(job, await readManifestIfExists(job.output).catch(() => undefined)))
    onNotice(
      `${job.name}: the lookback applies only to jobs without endBlock; --fresh reads everything again`,
    )
  return runExport(run, (store) => exportLocally({ ...run, store }))
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

/** A run that holds the lock of its output. */
type StoreRun = LocalRun & { store: Store }

/**
 * Exports the job. If the checkpoint contains unreadable pages, drops them and requests their blocks again.
 */
async function exportLocally(run: StoreRun): Promise<JobResult['state']> {
  try {
    return await exportFromCheckpoint(run)
  } catch (thrown) {
    if (!isDamagedPage(thrown)) throw thrown
    Object.assign(run.stats, { rows: {}, transactions: 0 })
    return exportFromCheckpoint(run, { hasDamage: true })
  }
}

type ResumeOptions = {
  /** Ignore the checkpoint and read the whole history again. @default false */
  fromScratch?: boolean
  /** The checkpoint may contain unreadable pages, so check and drop them first. @default false */
  hasDamage?: boolean
}

async function exportFromCheckpoint(
  run: StoreRun,
  { fromScratch = false, hasDamage = false }: ResumeOptions = {},
): Promise<JobResult['state']> {
  const started = await startRun({ ...run, fromScratch })
  const exportOnce = async () => {
    if (hasDamage) await dropDamagedPages(run, started)
    return exportStarted(run, started)
  }
  const state = await exportOnce()
    .catch((thrown: unknown) => {
      if (thrown instanceof CutoffLowered) return 'cutoff lowered' as const
      throw thrown
    })
    .finally(started.checkpoint.close)
  if (state === 'cutoff lowered') return exportFromCheckpoint(run)
  return state === 'pages missing' ? exportFromCheckpoint(run, { fromScratch: true }) : state
}

/** Drops damaged pages of the checkpoint, so that their blocks are requested again. */
async function dropDamagedPages({ job, onNotice }: StoreRun, { checkpoint }: StartedRun): Promise<void> {
  const source = sourceOf(job.service.api)
  const pages = await checkpoint.dropUnreadablePages(async (location) =>
    isPage(await checkpoint.read(location), source),
  )
  const pagesText = pages === 1 ? '1 unreadable page' : `${pages} unreadable pages`
  onNotice(`${job.name}: the checkpoint contained ${pagesText}; the blocks are requested again`)
}

async function exportStarted(run: StoreRun, started: StartedRun): Promise<WriteState | 'incomplete'> {
  const { checkpoint, previous } = started
  noticeRemovedWallets(run, previous)
  if (checkpoint.resumed) run.onNotice(`${run.job.name}: resuming an unfinished run`)
  const reopened = await readGapsAgain(run, started)
  const state = reopened === 'pages missing' ? reopened : await fetchAndWrite(run, reopened)
  if (state === 'pages missing') return state
  return (await checkpoint.reopenMissing()) ? 'incomplete' : state
}

/** Reopens gaps that the service lists now. The export is written again from the first block that it lacks. */
async function readGapsAgain(
  { job, store, requestContext, onNotice }: StoreRun,
  started: StartedRun,
): Promise<StartedRun | 'pages missing'> {
  const { checkpoint, previous, unchanged } = started
  await reopenReadableGaps({ job, requestContext, checkpoint })
  const from = firstClosedBlock(previous.manifest, checkpoint)
  if (from === undefined || from >= (unchanged ?? previous).from) return started
  onNotice(`${job.name}: the service lists what it lacked before; blocks from ${from} on are written again`)
  if (from >= previous.from) return { checkpoint, previous }
  const found = await findExport(job, store)
  if (found === undefined) return { checkpoint, previous }
  const continued = await continueExport(job, found, { checkpoint, from })
  return continued.from < checkpoint.base ? 'pages missing' : { checkpoint, previous: continued }
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
