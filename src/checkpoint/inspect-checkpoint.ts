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

/** Progress of the run in a checkpoint, and the blocks that the next run would request. */
export type CheckpointProgress = {
  /** Whether the checkpoint contains a run, finished or not. */
  hasRun: boolean
  /** Whether the run has published its files. */
  isDone: boolean
  pages: number
  items: number
  /** The highest block received; undefined if there is none. */
  head: number | undefined
  remaining(wallet: string): readonly BlockRange[]
}

/**
 * Inspects the checkpoint in `folder` without changing it. Throws OUTPUT_CHANGED if it belongs to another
 * job.
 */
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
  if (isDone) applyNext(state, { at, cutoffMs: at, from: writtenEnd(state) })
  return {
    hasRun: state.session > 0,
    isDone,
    pages: state.pages,
    items: countItems(state),
    head: state.head,
    remaining: (wallet) => remainingOf(state, wallet),
  }
}

/** Inspects the checkpoint in `folder` regardless of its job. Returns undefined if there is no checkpoint. */
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

/**
 * Returns the first block for which the checkpoint in `folder` can contain pages; 0 if there is no
 * checkpoint.
 */
export async function firstCheckpointedBlock(folder: string): Promise<number> {
  let base = 0
  await scanRecordLog(join(folder, CHECKPOINT_FILE), ({ kind, before }) => {
    if (kind === 'run') base = (before as WrittenRange | undefined)?.to ?? 0
  })
  return base
}
