import { join } from 'node:path'
import type { BlockRange } from '../core/model/model.ts'
import { type CheckpointIdentity, isReusable, requireSameIdentity } from './checkpoint-identity.ts'
import {
  applyNext,
  type CheckpointState,
  emptyState,
  replay,
  type WrittenRange,
  writtenEnd,
} from './checkpoint-state.ts'
import { CHECKPOINT_FILE } from './open-checkpoint.ts'
import { scanRecordLog } from './record-log.ts'
import { remainingOf } from './remaining.ts'

/** What a run would still have to ask, wallet by wallet; changes nothing. */
export type CheckpointProgress = {
  /** There are pages of a run, unfinished or not. */
  hasRun: boolean
  /** Its files are written. */
  isDone: boolean
  pages: number
  items: number
  /** The highest block seen; undefined where there was none. */
  head: number | undefined
  remaining(wallet: string): readonly BlockRange[]
}

/** Looks into the spool in `folder`. Throws OUTPUT_CHANGED where it belongs to a different job. */
export async function inspectCheckpoint(
  folder: string,
  identity: CheckpointIdentity,
): Promise<CheckpointProgress> {
  const replayed = emptyState(identity, Date.now())
  await scanRecordLog(join(folder, CHECKPOINT_FILE), (header, location) => replay(replayed, header, location))
  const state = isReusable(replayed) ? emptyState(identity, Date.now()) : replayed
  requireSameIdentity(state)
  const { isDone } = state
  const at = Date.now()
  if (isDone) applyNext(state, { at, cutMs: at, from: writtenEnd(state) })
  return {
    hasRun: state.session > 0,
    isDone,
    pages: state.pages,
    items: countItems(state),
    head: state.head,
    remaining: (wallet) => remainingOf(state, wallet),
  }
}

/** The same of whatever job the pages in `folder` are; undefined where there are none. */
export async function inspectAnyCheckpoint(folder: string): Promise<CheckpointProgress | undefined> {
  let identity: CheckpointIdentity | undefined
  await scanRecordLog(join(folder, CHECKPOINT_FILE), (header) => {
    if (header.kind === 'run') identity = header.identity as CheckpointIdentity
  })
  return identity === undefined ? undefined : inspectCheckpoint(folder, identity)
}

function countItems({ listings }: CheckpointState): number {
  let items = 0
  for (const { records } of listings.values()) for (const record of records) items += record.items
  return items
}

/** The block before which the pages in `folder` hold nothing; 0 where there are none, for then nothing else is lost. */
export async function firstCheckpointedBlock(folder: string): Promise<number> {
  let base = 0
  await scanRecordLog(join(folder, CHECKPOINT_FILE), ({ kind, before }) => {
    if (kind === 'run') base = (before as WrittenRange | undefined)?.to ?? 0
  })
  return base
}
