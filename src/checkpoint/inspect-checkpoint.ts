import { join } from 'node:path'
import type { BlockRange } from '../core/model/model.ts'
import { isUnbound, requireSameIdentity, type SpoolIdentity } from './checkpoint-identity.ts'
import { emptyState, noteNext, replay, type SpoolState, type Written, writtenTo } from './checkpoint-state.ts'
import { SPOOL_FILE } from './open-checkpoint.ts'
import { scanFrameLog } from './record-log.ts'
import { remainingOf } from './remaining.ts'

/** What a run would still have to ask, wallet by wallet; changes nothing. */
export type SpoolProgress = {
  /** There are pages of a run, unfinished or not. */
  begun: boolean
  /** Its files are written. */
  isDone: boolean
  pages: number
  items: number
  /** The highest block seen; undefined where there was none. */
  head: number | undefined
  remaining(wallet: string): readonly BlockRange[]
}

/** Looks into the spool in `folder`. Throws OUTPUT_CHANGED where it belongs to a different job. */
export async function inspectSpool(folder: string, identity: SpoolIdentity): Promise<SpoolProgress> {
  const found = emptyState(identity, Date.now())
  await scanFrameLog(join(folder, SPOOL_FILE), (head, place) => replay(found, head, place))
  const state = isUnbound(found) ? emptyState(identity, Date.now()) : found
  requireSameIdentity(state)
  const { isDone } = state
  const at = Date.now()
  if (isDone) noteNext(state, { at, cutMs: at, from: writtenTo(state) })
  return {
    begun: state.session > 0,
    isDone,
    pages: state.pages,
    items: countItems(state),
    head: state.head,
    remaining: (wallet) => remainingOf(state, wallet),
  }
}

/** The same of whatever job the pages in `folder` are; undefined where there are none. */
export async function inspectAnySpool(folder: string): Promise<SpoolProgress | undefined> {
  let identity: SpoolIdentity | undefined
  await scanFrameLog(join(folder, SPOOL_FILE), (head) => {
    if (head.kind === 'run') identity = head.identity as SpoolIdentity
  })
  return identity === undefined ? undefined : inspectSpool(folder, identity)
}

function countItems({ listings }: SpoolState): number {
  let items = 0
  for (const { frames } of listings.values()) for (const frame of frames) items += frame.items
  return items
}

/** The block before which the pages in `folder` hold nothing; 0 where there are none, for then nothing else is lost. */
export async function firstSpooledBlock(folder: string): Promise<number> {
  let base = 0
  await scanFrameLog(join(folder, SPOOL_FILE), ({ kind, before }) => {
    if (kind === 'run') base = (before as Written | undefined)?.to ?? 0
  })
  return base
}
