import type { Checkpoint } from '../../checkpoint/checkpoint.ts'
import { openPendingCheckpoint, removeCheckpoint } from '../../checkpoint/open-checkpoint.ts'
import type { LogDamage } from '../../checkpoint/record-log.ts'
import { ExportError } from '../../core/model/errors.ts'
import { DEFAULT_LOOKBACK, type Lookback } from '../../core/model/lookback.ts'
import { endOfExport } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { outputName } from '../../storage/bucket-url.ts'
import type { Store } from '../../storage/store.ts'
import { checkpointIdentity, privateFolder } from '../private-folder.ts'
import { type ExistingExport, findChangedSettings, findExport, missingTables } from './find-export.ts'
import {
  type ContinueOptions,
  continueExport,
  isOpenEnded,
  noPreviousExport,
  type PreviousExport,
  writtenRangeOf,
} from './previous-export.ts'

type StartRunOptions = {
  job: Job
  store: Store
  fresh: boolean
  lookback: Lookback | undefined
  /** Ignore the checkpoint and read the whole history again. @default false */
  fromScratch?: boolean
  onNotice: (notice: string) => void
}
export type StartedRun = {
  checkpoint: Checkpoint
  previous: PreviousExport
  /**
   * The export to continue if the lookback turns out to be unchanged. Absent if the lookback is written again
   * anyway.
   */
  unchanged?: PreviousExport | undefined
}

/** Opens the checkpoint and finds the export that a run continues. Throws OUTPUT_CHANGED. */
export async function startRun(runOptions: StartRunOptions): Promise<StartedRun> {
  const { job, store, fresh, lookback = DEFAULT_LOOKBACK, onNotice } = runOptions
  const options = checkpointOptions(runOptions)
  if (runOptions.fromScratch) return startFromScratch(runOptions, await findExport(job, store))
  const pending = await openPendingCheckpoint(options)
  try {
    const isFresh = fresh || pending.isFresh
    const existing = isFresh ? undefined : await findExport(job, store)
    const writtenRange =
      existing && isOpenEnded(job, existing.manifest) ? writtenRangeOf(job, existing.manifest) : undefined
    const checkpoint = await pending.begin({ before: writtenRange, lookback, isFresh })
    const previous = await findPreviousExport(runOptions, existing, { checkpoint, from: checkpoint.from })
    const arePagesAvailable = hasPages(job, checkpoint, previous)
    if (existing !== undefined)
      requireUpgradable(job, existing, arePagesAvailable && canRewrite(job, checkpoint, existing))
    if (arePagesAvailable) {
      noticeShortLookback(runOptions, checkpoint, existing)
      return {
        checkpoint,
        previous,
        ...(await findUnchanged(runOptions, { existing, checkpoint, previous })),
      }
    }
    onNotice(`${job.name}: pages of earlier runs are gone, so the whole history is read again`)
    if (previous.from >= checkpoint.base) return { checkpoint, previous }
    await checkpoint.close()
    return startFromScratch(runOptions, existing)
  } catch (error) {
    await pending.close()
    throw error
  }
}

/** Begins with an empty checkpoint. The whole export is written again. */
async function startFromScratch(
  runOptions: StartRunOptions,
  existing: ExistingExport | undefined,
): Promise<StartedRun> {
  const options = checkpointOptions(runOptions)
  await removeCheckpoint(options.folder)
  const pending = await openPendingCheckpoint(options)
  return { checkpoint: await pending.begin({}), previous: noPreviousExport(runOptions.job, existing) }
}

function checkpointOptions({ job, onNotice }: StartRunOptions) {
  return {
    folder: privateFolder(job),
    identity: checkpointIdentity(job),
    now: Date.now(),
    onDamage: (damage: LogDamage) => onNotice(describeDamage(job, damage)),
  }
}

/**
 * Whether the checkpoint has the pages of all rows that must be written. An export that reached its endBlock
 * has no checkpoint; it is never continued, so the result is true.
 */
function hasPages(job: Job, checkpoint: Checkpoint, { from, manifest }: PreviousExport): boolean {
  if (!isOpenEnded(job, manifest) || manifest === undefined || endOfExport(manifest) <= job.startBlock)
    return true
  return from >= checkpoint.base && checkpoint.written().length > 0
}

/** Whether an export has stored pages, or needs none because it has no blocks yet. An export that has ended has none. */
function canRewrite(job: Job, checkpoint: Checkpoint, { manifest }: ExistingExport): boolean {
  if (checkpoint.written().length > 0) return true
  return isOpenEnded(job, manifest) && endOfExport(manifest) <= job.startBlock
}

/**
 * Throws OUTPUT_CHANGED if the export lacks a table of the job, or has other columns than this version writes, and its
 * pages are not stored. Rows of two schemas are never mixed, and the whole history is requested again only if the user
 * asks for it (`--fresh`).
 */
function requireUpgradable(job: Job, { manifest }: ExistingExport, arePagesAvailable: boolean): void {
  const [columns] = columnDifferences(manifest)
  const [table] = missingTables(job, manifest)
  if (arePagesAvailable || (columns ?? table) === undefined) return
  const difference =
    columns === undefined
      ? `lacks the table ${table}`
      : `has other columns than this version writes (${columns})`
  throw new ExportError('OUTPUT_CHANGED', `${outputName(job)} ${difference}, and its pages are gone`, {
    fix: 'Run again with --fresh: it requests the whole history again.',
  })
}

async function findPreviousExport(
  { job, onNotice }: StartRunOptions,
  existing: ExistingExport | undefined,
  options: ContinueOptions,
): Promise<PreviousExport> {
  if (existing === undefined || job.kind === 'blocks') return noPreviousExport(job)
  if (!isOpenEnded(job, existing.manifest)) return noPreviousExport(job, existing)
  const changed = findChangedSettings(job, existing.manifest)
  if (changed.length === 0) return continueExport(job, existing, options)
  onNotice(`${job.name}: ${changed.join(', ')} changed, so all rows are written again`)
  return noPreviousExport(job, existing)
}

type ResumeState = { existing: ExistingExport | undefined; checkpoint: Checkpoint; previous: PreviousExport }

/**
 * Returns the export to continue if the lookback is unchanged and the service refuses the same wallets as before;
 * nothing if the lookback is written again anyway.
 */
async function findUnchanged(
  { job, lookback }: StartRunOptions,
  { existing, checkpoint, previous }: ResumeState,
): Promise<Pick<StartedRun, 'unchanged'>> {
  if (existing === undefined || lookback !== undefined) return {}
  if (!isOpenEnded(job, existing.manifest) || findChangedSettings(job, existing.manifest).length > 0)
    return {}
  const from = endOfExport(existing.manifest)
  const unchanged = await continueExport(job, existing, { checkpoint, from, areRefusedAgain: true })
  return unchanged.from > previous.from ? { unchanged } : {}
}

/** Reports blocks of the lookback that cannot be read again. */
function noticeShortLookback(
  { job, lookback: { blocks } = DEFAULT_LOOKBACK, onNotice }: StartRunOptions,
  checkpoint: Checkpoint,
  existing?: ExistingExport,
) {
  if (existing === undefined || !isOpenEnded(job, existing.manifest) || blocks === 0) return
  const wanted = Math.max(job.startBlock, endOfExport(existing.manifest) - blocks)
  if (checkpoint.from <= wanted) return
  const reason =
    checkpoint.base > wanted ? 'pages of earlier runs are gone' : 'an unfinished run was begun without them'
  onNotice(
    `${job.name}: blocks ${wanted} to ${checkpoint.from - 1} are not read again, because ${reason}; later changes in them are missed (--fresh reads everything again)`,
  )
}

/** A page whose header is damaged cannot be counted. */
function describeDamage({ name }: Job, { bytes, headers, savedTo }: LogDamage): string {
  const pages = headers.filter(({ kind }) => kind === 'page').length
  const count = pages === 0 ? '' : ` (at least ${pages})`
  const message = `${name}: the checkpoint ended in ${bytes} damaged bytes; their pages are requested again${count}`
  return savedTo === undefined ? message : `${message}; the bytes were saved as ${savedTo}`
}
