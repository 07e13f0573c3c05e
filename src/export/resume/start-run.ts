import type { Spool } from '../../checkpoint/checkpoint.ts'
import { openCheckpoint, removeSpool } from '../../checkpoint/open-checkpoint.ts'
import { ExportError } from '../../core/model/errors.ts'
import { LOOKBACK_BLOCKS } from '../../core/model/limits.ts'
import type { Job } from '../../core/model/model.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { nameOfOutput } from '../../storage/bucket-url.ts'
import type { Store } from '../../storage/store.ts'
import { privateFolder, spoolIdentity } from '../private-folder.ts'
import { findChangedSettings } from './changed-settings.ts'
import { type FoundExport, findExport } from './find-export.ts'
import {
  type Continuing,
  continueExport,
  type Earlier,
  endOfExport,
  isOpenEnded,
  nothingEarlier,
  writtenBefore,
} from './previous-export.ts'

type Beginning = {
  job: Job
  store: Store
  fresh: boolean
  lookbackBlocks: number | undefined
  /** Pages of earlier runs are not gone on with: all of the history is read again. @default false */
  isAnew?: boolean
  onNotice: (notice: string) => void
}
export type Begun = {
  spool: Spool
  earlier: Earlier
  /** What the run goes on from where the border, which it reads again, has not changed; absent: it is not compared. */
  unchanged?: Earlier
}

/** The checkpoint that a run goes on with, and the export that it continues. Throws OUTPUT_CHANGED. */
export async function beginRun(beginning: Beginning): Promise<Begun> {
  const { job, store, fresh, lookbackBlocks = LOOKBACK_BLOCKS, onNotice } = beginning
  const options = optionsOf(beginning)
  if (beginning.isAnew) return beginAnew(beginning, await findExport(job, store))
  const checkpoint = await openCheckpoint(options)
  try {
    const isFresh = fresh || checkpoint.isFresh
    const found = isFresh ? undefined : await findExport(job, store)
    const before = found && isOpenEnded(job, found.manifest) ? writtenBefore(job, found.manifest) : undefined
    const wanted = Math.max(job.startBlock, checkpoint.end - lookbackBlocks)
    const spool = await checkpoint.begin({ before, from: wanted, isFresh })
    const earlier = await findEarlier(beginning, found, { spool, from: spool.from })
    const isPaged = hasPages(job, spool, earlier)
    if (found !== undefined) requireUpgradable(job, found, isPaged && spool.written().length > 0)
    if (isPaged) {
      noticeShort(beginning, spool, found)
      return { spool, earlier, ...(await unchangedFrom(beginning, { found, spool, earlier })) }
    }
    onNotice(`${job.name}: pages of earlier runs are gone, so that the whole history is read again`)
    if (earlier.from >= spool.base) return { spool, earlier }
    await spool.close()
    return beginAnew(beginning, found)
  } catch (thrown) {
    await checkpoint.close()
    throw thrown
  }
}

/** Begins without pages of earlier runs; what the export has is written again. */
async function beginAnew(beginning: Beginning, found: FoundExport | undefined): Promise<Begun> {
  const options = optionsOf(beginning)
  await removeSpool(options.folder)
  const checkpoint = await openCheckpoint(options)
  return { spool: await checkpoint.begin({}), earlier: nothingEarlier(beginning.job, found) }
}

function optionsOf({ job, onNotice }: Beginning) {
  return {
    folder: privateFolder(job),
    identity: spoolIdentity(job),
    now: Date.now(),
    onDamage: ({ bytes, kept }: { bytes: number; kept: string | undefined }) =>
      onNotice(describeDamage(job, bytes, kept)),
  }
}

/** False where rows of an export are to be written again whose pages are gone. An export with a final end never has them. */
function hasPages(job: Job, spool: Spool, { from, before }: Earlier): boolean {
  if (!isOpenEnded(job, before) || before === undefined || endOfExport(before) <= job.startBlock) return true
  return from >= spool.base && spool.written().length > 0
}

/**
 * Throws OUTPUT_CHANGED where the export has other columns than this version writes and its pages are gone: rows of two schemas are
 * never mixed, and the whole history is requested again only when the user asks for it.
 */
function requireUpgradable(job: Job, { manifest }: FoundExport, isPaged: boolean): void {
  const [difference] = columnDifferences(manifest)
  if (difference === undefined || isPaged) return
  throw new ExportError(
    'OUTPUT_CHANGED',
    `${nameOfOutput(job)} has other columns than this version writes (${difference}), and the pages that it was made from are gone`,
    { fix: 'Run again with --fresh: it requests the whole history again.' },
  )
}

async function findEarlier(
  { job, onNotice }: Beginning,
  found: FoundExport | undefined,
  continuing: Continuing,
): Promise<Earlier> {
  if (found === undefined || job.kind === 'blocks') return nothingEarlier(job)
  if (!isOpenEnded(job, found.manifest)) return nothingEarlier(job, found)
  const changed = findChangedSettings(job, found.manifest)
  if (changed.length === 0) return continueExport(job, found, continuing)
  onNotice(`${job.name}: ${changed.join(', ')} changed, so that all rows are written again`)
  return nothingEarlier(job, found)
}

type Compared = { found: FoundExport | undefined; spool: Spool; earlier: Earlier }

/** The export as it goes on where its last blocks are as they were; nothing where they are to be written in any case. */
async function unchangedFrom(
  { job, lookbackBlocks }: Beginning,
  { found, spool, earlier }: Compared,
): Promise<Pick<Begun, 'unchanged'>> {
  if (found === undefined || lookbackBlocks !== undefined) return {}
  if (!isOpenEnded(job, found.manifest) || findChangedSettings(job, found.manifest).length > 0) return {}
  const unchanged = await continueExport(job, found, { spool, from: endOfExport(found.manifest) })
  return unchanged.from > earlier.from ? { unchanged } : {}
}

/** Says which of the last blocks are not read again. */
function noticeShort(
  { job, lookbackBlocks = LOOKBACK_BLOCKS, onNotice }: Beginning,
  spool: Spool,
  found?: FoundExport,
) {
  if (found === undefined || !isOpenEnded(job, found.manifest) || lookbackBlocks === 0) return
  const wanted = Math.max(job.startBlock, endOfExport(found.manifest) - lookbackBlocks)
  if (spool.from <= wanted) return
  const why =
    spool.base > wanted ? 'pages of earlier runs are gone' : 'an unfinished run was begun without them'
  onNotice(
    `${job.name}: blocks ${wanted} to ${spool.from - 1} are not read again, for ${why}: what changed in them since is missed; --fresh reads all`,
  )
}

function describeDamage({ name }: Job, bytes: number, kept: string | undefined): string {
  const what = `${name}: the checkpoint ended in ${bytes} damaged bytes; what they held is asked for again`
  return kept === undefined ? what : `${what}; they were set aside as ${kept}`
}
