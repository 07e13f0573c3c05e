import { findChangedSettings } from '../assemble/changed-settings.ts'
import {
  continueExport,
  type Earlier,
  endOfExport,
  nothingEarlier,
  writtenBefore,
} from '../assemble/earlier-export.ts'
import { type FoundExport, findExport } from '../assemble/find-export.ts'
import type { Job } from '../core/model.ts'
import { openCheckpoint, removeSpool, type Spool } from '../spool/spool.ts'
import { privateFolder, spoolIdentity } from './private-folder.ts'

type Beginning = { job: Job; fresh: boolean; rereadBlocks: number; onNotice: (notice: string) => void }
type Begun = { spool: Spool; earlier: Earlier }

/** The checkpoint that a run goes on with, and the export that it continues. Throws OUTPUT_CHANGED. */
export async function beginRun(beginning: Beginning): Promise<Begun> {
  const { job, fresh, rereadBlocks, onNotice } = beginning
  const options = optionsOf(beginning)
  const checkpoint = await openCheckpoint(options)
  try {
    const isFresh = fresh || checkpoint.isFresh
    const found = isFresh ? undefined : await findExport(job)
    const before = found && job.endBlock === undefined ? writtenBefore(job, found.manifest) : undefined
    const spool = await checkpoint.begin({ before, from: checkpoint.end - rereadBlocks, isFresh })
    const earlier = await findEarlier(beginning, found, spool)
    if (hasPages(job, spool, earlier)) return { spool, earlier }
    onNotice(`${job.name}: pages of earlier runs are gone, so that the whole history is read again`)
    if (earlier.from >= spool.base) return { spool, earlier }
    await spool.close()
    await removeSpool(options.folder)
    const anew = await openCheckpoint(options)
    return { spool: await anew.begin({}), earlier: nothingEarlier(job, found) }
  } catch (thrown) {
    await checkpoint.close()
    throw thrown
  }
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

/** False where rows of an export are to be written again whose pages are gone. A job with an end never has them. */
function hasPages(job: Job, spool: Spool, { from, before }: Earlier): boolean {
  if (before === undefined || job.endBlock !== undefined || endOfExport(before) <= job.startBlock) return true
  return from >= spool.base && spool.written().length > 0
}

async function findEarlier(
  { job, onNotice }: Beginning,
  found: FoundExport | undefined,
  spool: Spool,
): Promise<Earlier> {
  if (found === undefined || job.kind === 'blocks') return nothingEarlier(job)
  if (job.endBlock !== undefined) return nothingEarlier(job, found)
  const changed = findChangedSettings(job, found.manifest)
  if (changed.length === 0) return continueExport(job, found, spool)
  onNotice(`${job.name}: ${changed.join(', ')} changed, so that all rows are written again`)
  return nothingEarlier(job, found)
}

function describeDamage({ name }: Job, bytes: number, kept: string | undefined): string {
  const what = `${name}: the checkpoint ended in ${bytes} damaged bytes; what they held is asked for again`
  return kept === undefined ? what : `${what}; they were set aside as ${kept}`
}
