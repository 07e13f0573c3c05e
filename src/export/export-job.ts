import { removeSpool } from '../checkpoint/open-checkpoint.ts'
import { type ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { clockLagOf, endFigures, type Figures } from '../core/model/run-stats.ts'
import { watchEmptyFolders } from '../core/platform/created-folders.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { refuseSpecialEntries } from '../core/platform/special-entries.ts'
import { readManifestIfAny, requireSafeManifest } from '../files/publish.ts'
import { forgetChanges } from '../files/publish-changes.ts'
import type { Requester } from '../http/request.ts'
import { openStore } from '../storage/open-store.ts'
import type { Store } from '../storage/store.ts'
import { isDamagedPage, isPage } from '../transform/merge/record-items.ts'
import { forgetDone, isDone, markDone } from './completion.ts'
import { isOpen, readAndWrite, recallFigures, type WriteState } from './fetch-and-write.ts'
import { privateFolder } from './private-folder.ts'
import { type Earlier, isOpenEnded, leftWallets } from './resume/previous-export.ts'
import { type Begun, beginRun } from './resume/start-run.ts'

/** A run of one job, whichever machines do its work. */
export type JobRun = {
  job: Job
  figures: Figures
  /** Forget checkpoints and start over. */
  fresh: boolean
  onNotice: (notice: string) => void
}

/** A run of one job in this process. */
type LocalRun = JobRun & {
  requester: Requester
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
  if (lookbackBlocks > 0 && !isOpenEnded(job, await readManifestIfAny(job.output).catch(() => undefined)))
    onNotice(`${job.name}: blocks are read again only in jobs without endBlock; --fresh reads all`)
  return runExport(run, (store) => exportLocally({ ...run, store }))
}

/**
 * Runs one job to its end: holds the output, leaves it as it is where this very job is exported already, and has everything
 * else made. Never throws: a failure is part of the result, and what was received stays for a resume.
 */
export async function runExport(run: JobRun, make: MakeExport): Promise<JobResult> {
  const result = await exportOrFail(run, make)
  endFigures(run.figures, result.error)
  return result
}

async function exportOrFail(run: JobRun, make: MakeExport): Promise<JobResult> {
  const { job, figures } = run
  const folder = privateFolder(job)
  const before = await watchEmptyFolders(folder)
  try {
    await refuseSpecialEntries(job.output, 'OUTPUT_FAILED')
    const release = await lockOutput(folder)
    try {
      return { job, state: await exportLeased(run, make), error: undefined }
    } catch (thrown) {
      // A checkpoint without a page is of no use to a later run.
      if (before.isNew && figures.pages === 0) await removeSpool(folder).catch(() => undefined)
      throw thrown
    } finally {
      await release()
    }
  } catch (thrown) {
    await before.removeEmpty()
    return { job, state: 'failed', error: toExportError(thrown) }
  }
}

async function exportLeased(run: JobRun, make: MakeExport): Promise<JobResult['state']> {
  const store = await openStore(run.job)
  try {
    return await exportUnlessDone({ ...run, store }, make)
  } finally {
    await store.close()
  }
}

async function exportUnlessDone(
  run: JobRun & { store: Store },
  make: MakeExport,
): Promise<JobResult['state']> {
  const { job, store, figures, fresh } = run
  const folder = privateFolder(job)
  if (!fresh) await requireSafeManifest(job.output)
  if (fresh) await forget(store, folder)
  else if (await isDone(job, store)) {
    await removeSpool(folder)
    await recallFigures(job, figures)
    figures.endBlock = job.endBlock
    return 'unchanged'
  }
  return conclude(run, await make(store))
}

/** Notes that nothing is left to be read, where that is so; otherwise a later run goes on. */
async function conclude({ job, figures }: JobRun, made: JobResult['state']): Promise<JobResult['state']> {
  const isIncomplete =
    made === 'incomplete' || figures.refused.length > 0 || clockLagOf(figures) !== undefined
  if (isIncomplete || isOpen(job, figures)) {
    await forgetDone(privateFolder(job))
    return isIncomplete ? 'incomplete' : made
  }
  await markDone(job)
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
    Object.assign(run.figures, { rows: {}, transactions: 0 })
    return exportFromCheckpoint(run, { hasDamage: true })
  }
}

type FromCheckpoint = {
  /** Pages of earlier runs are gone: all of the history is read again. @default false */
  isAnew?: boolean
  /** The checkpoint may hold pages that cannot be read. @default false */
  hasDamage?: boolean
}

async function exportFromCheckpoint(
  run: StoreRun,
  { isAnew = false, hasDamage = false }: FromCheckpoint = {},
): Promise<JobResult['state']> {
  const begun = await beginRun({ ...run, isAnew })
  const exported = async () => {
    if (hasDamage) await dropDamagedPages(run, begun)
    return exportBegun(run, begun)
  }
  const state = await exported().finally(begun.spool.close)
  return state === 'pages gone' ? exportFromCheckpoint(run, { isAnew: true }) : state
}

/** Leaves what damaged pages of the checkpoint covered to be requested again. */
async function dropDamagedPages({ job, onNotice }: StoreRun, { spool }: Begun): Promise<void> {
  const pages = await spool.dropUnreadable(async (place) => isPage(await spool.read(place)))
  const what = pages === 1 ? 'a page that cannot' : `${pages} pages that cannot`
  onNotice(`${job.name}: the checkpoint held ${what} be read; what it covered is requested again`)
}

async function exportBegun(run: StoreRun, begun: Begun): Promise<WriteState | 'incomplete'> {
  const { spool, earlier } = begun
  noticeLeft(run, earlier)
  if (spool.resumed) run.onNotice(`${run.job.name}: an unfinished run is continued`)
  const state = await readAndWrite(run, begun)
  if (state === 'pages gone') return state
  return (await spool.reopenMissing()) ? 'incomplete' : state
}

/** Says which wallets of the export the job has no more. */
export function noticeLeft({ job, onNotice }: Pick<JobRun, 'job' | 'onNotice'>, earlier: Earlier): void {
  const left = leftWallets(job, earlier)
  if (left.length === 0) return
  const [only] = left
  const last = left.reduce((most, { toBlock }) => Math.max(most, toBlock), 0) - 1
  const named =
    left.length === 1 && only !== undefined
      ? `wallet ${only.address} is not in the job any more; its rows stay, up to block ${last}`
      : `${left.length} wallets are not in the job any more; their rows stay, up to block ${last} at most`
  onNotice(`${job.name}: ${named}`)
}

async function forget(store: Store, folder: string): Promise<void> {
  await forgetChanges(store)
  await store.forgetManifestSetAside()
  await removeSpool(folder)
  await forgetDone(folder)
}
