import { openOutput } from '../assemble/assemble.ts'
import { hasBorderChanged } from '../assemble/compare-border.ts'
import {
  type Earlier,
  endOfExport,
  leftWallets,
  listingsToRead,
  namesWalletsOf,
} from '../assemble/earlier-export.ts'
import type { Requester } from '../client/request.ts'
import { watchEmptyFolders } from '../core/empty-folders.ts'
import { type ExportError, toExportError } from '../core/errors.ts'
import { endFigures, type Figures, noteWholeExport } from '../core/figures.ts'
import { lockOutput } from '../core/lock/lock.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { refuseSpecialEntries } from '../core/plain-entries.ts'
import { crawlJob } from '../crawl/crawl.ts'
import { removeSpool, type Spool } from '../spool/spool.ts'
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'
import { readManifestIfAny, requireSafeManifest } from '../write/publish.ts'
import { forgetChanges, recallChanges } from '../write/publish-changes.ts'
import { type Begun, beginRun } from './begin-run.ts'
import { forgetDone, isDone, markDone } from './done.ts'
import { privateFolder } from './private-folder.ts'

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
  rereadBlocks: number | undefined
}

/** Makes the files of a job whose output is held by this process, and publishes them. */
export type MakeExport = (store: Store) => Promise<JobResult['state']>

export type JobResult = {
  job: Job
  /** `complete`: all files are there. `unchanged`: they were there already. `incomplete`: blocks are missing in them. */
  state: 'complete' | 'unchanged' | 'incomplete' | 'failed'
  error: ExportError | undefined
}

/** Runs one job to its end in this process. Never throws, as `runExport`. */
export async function exportJob(run: LocalRun): Promise<JobResult> {
  const { job, rereadBlocks = 0, onNotice } = run
  if (rereadBlocks > 0 && job.endBlock !== undefined)
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
    } finally {
      await release()
    }
  } catch (thrown) {
    // A checkpoint without a page is of no use to a later run.
    if (before.isNew && figures.pages === 0) await removeSpool(folder).catch(() => undefined)
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
  return make(store)
}

/** A run whose output is this process's. */
type StoreRun = LocalRun & { store: Store }

async function exportLocally(run: StoreRun): Promise<JobResult['state']> {
  const { job } = run
  const begun = await beginRun(run)
  const { spool, earlier } = begun
  noticeLeft(run, earlier)
  try {
    if (spool.resumed) run.onNotice(`${job.name}: an unfinished run is continued`)
    const state = await readAndWrite(run, begun)
    if (await spool.reopenMissing()) {
      await forgetDone(privateFolder(job))
      return 'incomplete'
    }
    if (job.endBlock === undefined) return state
  } finally {
    await spool.close()
  }
  await markDone(job)
  return 'complete'
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

/**
 * Reads what is missing and writes it. Where the last blocks of the export are only compared, the new ones are written while
 * they come, as if nothing had changed; if something has, these rows are given up and the border is written again too.
 */
async function readAndWrite(run: StoreRun, { spool, earlier, unchanged }: Begun): Promise<WriteState> {
  const border = unchanged && { from: spool.from, to: unchanged.from }
  const state = await writeFrom(run, { spool, earlier: unchanged ?? earlier, border })
  return state ?? readAndWrite(run, { spool, earlier })
}

type WriteState = 'complete' | 'unchanged'

type Writing = {
  spool: Spool
  /** The blocks of the export from where the writing begins stay. */
  earlier: Earlier
  /** Blocks at its end that are to be as they were. */
  border: BlockRange | undefined
}

/** Reads, and writes what is new; undefined, with nothing written, where the border has changed. */
async function writeFrom(
  run: StoreRun,
  { spool, earlier, border }: Writing,
): Promise<WriteState | undefined> {
  const { job, store, requester, figures, onNotice } = run
  const output = await openOutput({ job, store, spool, figures, signal: requester.signal, earlier })
  try {
    figures.phase = 'reading'
    const listings = listingsToRead(job, earlier)
    const { before, from } = earlier
    const leastEnd = before === undefined ? 0 : endOfExport(before)
    const arriving = { readPage: output.readPage, onPage: output.pageArrived }
    const end = await crawlJob({ job, listings, leastEnd, requester, spool, figures, onNotice, ...arriving })
    if (border !== undefined && (await hasBorderChanged(spool, listings, border))) {
      Object.assign(figures, { rows: {}, transactions: 0 })
      return undefined
    }
    figures.phase = 'writing'
    figures.share = 1
    const isNew = before === undefined || end > from || from < leastEnd || !namesWalletsOf(job, before)
    if (!isNew) {
      await recallFigures(job, figures)
      figures.changes = await recallChanges({ store, run: spool.begunMs })
    }
    const written = isNew ? await output.finish(end) : { from: end, to: end, seen: {} }
    if (job.endBlock === undefined) await spool.finish(written)
    figures.endBlock = written.to
    return isNew ? 'complete' : 'unchanged'
  } finally {
    await output.close()
  }
}

async function forget(store: Store, folder: string): Promise<void> {
  await forgetChanges(store)
  await store.forgetManifestSetAside()
  await removeSpool(folder)
  await forgetDone(folder)
}

/** What an earlier run wrote, for the summary and the exit code of this one. */
async function recallFigures(job: Job, figures: Figures): Promise<void> {
  const manifest = await readManifestIfAny(job.output)
  if (manifest !== undefined) noteWholeExport(figures, manifest)
}
