import { removeCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { type ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { clockLagOf, endRunStats, type RunStats } from '../core/model/run-stats.ts'
import { trackCreatedFolders } from '../core/platform/created-folders.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { readManifestIfExists, requireSafeManifest } from '../files/publish.ts'
import { discardChanges } from '../files/publish-changes.ts'
import type { RequestContext } from '../http/request.ts'
import { openStore } from '../storage/open-store.ts'
import type { Store } from '../storage/store.ts'
import { isDamagedPage, isPage } from '../transform/merge/record-items.ts'
import { clearComplete, isJobComplete, markComplete } from './completion.ts'
import { fetchAndWrite, isOpen, restoreStats, type WriteState } from './fetch-and-write.ts'
import { privateFolder } from './private-folder.ts'
import { isOpenEnded, type PreviousExport, removedWallets } from './resume/previous-export.ts'
import { type StartedRun, startRun } from './resume/start-run.ts'

/** A run of one job, whichever machines do its work. */
export type JobRun = {
  job: Job
  stats: RunStats
  /** Forget checkpoints and start over. */
  fresh: boolean
  onNotice: (notice: string) => void
}

/** A run of one job in this process. */
type LocalRun = JobRun & {
  requestContext: RequestContext
  /** Blocks at the end of an earlier run that are read again. */
  lookbackBlocks: number | undefined
}

/** Makes the files of a job whose output is held by this process, and publishes them. */
export type MakeExport = (store: Store) => Promise<JobResult['state']>

export type JobResult = {
  job: Job
  /** `complete`: all files are there. `unchanged`: they were there already. `incomplete`: blocks, wallets or new transactions are missing. */
  state: 'complete' | 'unchanged' | 'incomplete' | 'failed'
  error: ExportError | undefined
}

/** Runs one job to its end in this process. Never throws, as `runExport`. */
export async function exportJob(run: LocalRun): Promise<JobResult> {
  const { job, lookbackBlocks = 0, onNotice } = run
  if (lookbackBlocks > 0 && !isOpenEnded(job, await readManifestIfExists(job.output).catch(() => undefined)))
    onNotice(`${job.name}: blocks are read again only in jobs without endBlock; --fresh reads all`)
  return runExport(run, (store) => exportLocally({ ...run, store }))
}

/**
 * Runs one job to its end: holds the output, leaves it as it is where this very job is exported already, and has everything
 * else made. Never throws: a failure is part of the result, and what was received stays for a resume.
 */
export async function runExport(run: JobRun, make: MakeExport): Promise<JobResult> {
  const result = await tryExport(run, make)
  endRunStats(run.stats, result.error)
  return result
}

async function tryExport(run: JobRun, make: MakeExport): Promise<JobResult> {
  const { job, stats } = run
  const folder = privateFolder(job)
  const folders = await trackCreatedFolders(folder)
  try {
    await assertNoSpecialEntries(job.output, 'OUTPUT_FAILED')
    const release = await lockOutput(folder)
    try {
      return { job, state: await exportToStore(run, make), error: undefined }
    } catch (thrown) {
      // A checkpoint without a page is of no use to a later run.
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
  const store = await openStore(run.job)
  try {
    return await exportUnlessComplete({ ...run, store }, make)
  } finally {
    await store.close()
  }
}

async function exportUnlessComplete(
  run: JobRun & { store: Store },
  make: MakeExport,
): Promise<JobResult['state']> {
  const { job, store, stats, fresh } = run
  const folder = privateFolder(job)
  if (!fresh) await requireSafeManifest(job.output)
  if (fresh) await resetOutput(store, folder)
  else if (await isJobComplete(job, store)) {
    await removeCheckpoint(folder)
    await restoreStats(job, stats)
    stats.endBlock = job.endBlock
    return 'unchanged'
  }
  return recordCompletion(run, await make(store))
}

/** Notes that nothing is left to be read, where that is so; otherwise a later run goes on. */
async function recordCompletion(
  { job, stats }: JobRun,
  state: JobResult['state'],
): Promise<JobResult['state']> {
  const isIncomplete = state === 'incomplete' || stats.refused.length > 0 || clockLagOf(stats) !== undefined
  if (isIncomplete || isOpen(job, stats)) {
    await clearComplete(privateFolder(job))
    return isIncomplete ? 'incomplete' : state
  }
  await markComplete(job)
  return 'complete'
}

/** A run whose output is this process's. */
type StoreRun = LocalRun & { store: Store }

/** Exports; where the checkpoint holds pages that no run can read, what they covered is requested again. */
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
  /** Pages of earlier runs are gone: all of the history is read again. @default false */
  fromScratch?: boolean
  /** The checkpoint may hold pages that cannot be read. @default false */
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
  const state = await exportOnce().finally(started.checkpoint.close)
  return state === 'pages missing' ? exportFromCheckpoint(run, { fromScratch: true }) : state
}

/** Leaves what damaged pages of the checkpoint covered to be requested again. */
async function dropDamagedPages({ job, onNotice }: StoreRun, { checkpoint }: StartedRun): Promise<void> {
  const pages = await checkpoint.dropUnreadablePages(async (location) =>
    isPage(await checkpoint.read(location)),
  )
  const pagesText = pages === 1 ? 'a page that cannot' : `${pages} pages that cannot`
  onNotice(`${job.name}: the checkpoint held ${pagesText} be read; what it covered is requested again`)
}

async function exportStarted(run: StoreRun, started: StartedRun): Promise<WriteState | 'incomplete'> {
  const { checkpoint, previous } = started
  noticeRemovedWallets(run, previous)
  if (checkpoint.resumed) run.onNotice(`${run.job.name}: an unfinished run is continued`)
  const state = await fetchAndWrite(run, started)
  if (state === 'pages missing') return state
  return (await checkpoint.reopenMissing()) ? 'incomplete' : state
}

/** Says which wallets of the export the job has no more. */
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
      ? `wallet ${only.address} is not in the job any more; its rows stay, up to block ${last}`
      : `${removed.length} wallets are not in the job any more; their rows stay, up to block ${last} at most`
  onNotice(`${job.name}: ${walletsText}`)
}

async function resetOutput(store: Store, folder: string): Promise<void> {
  await discardChanges(store)
  await store.removeManifestBackup()
  await removeCheckpoint(folder)
  await clearComplete(folder)
}
