import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Lookback, NO_LOOKBACK } from '../core/model/lookback.ts'
import type { BlockRange } from '../core/model/model.ts'
import { diskError } from '../core/platform/disk.ts'
import { lookbackFinder } from './block-times.ts'
import type { CheckpointPage } from './checkpoint.ts'
import { type CheckpointIdentity, isReusable, requireSameIdentity } from './checkpoint-identity.ts'
import {
  applyNext,
  type CheckpointState,
  emptyState,
  type PageFields,
  remainingOf,
  replay,
  type WrittenRange,
  writtenEnd,
} from './checkpoint-state.ts'
import { CHECKPOINT_FILE } from './open-checkpoint.ts'
import { isRecordHeader } from './record-header.ts'
import { type RecordLocation, scanRecordLog } from './record-log.ts'

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

/** What the next run is asked to read beyond new blocks. */
export type Restart = {
  /** Ignore the checkpoint, as a run that starts over. @default false */
  fresh?: boolean | undefined
  /** Blocks at the end that are read and written again. @default none */
  lookback?: Lookback | undefined
}

/**
 * Inspects the checkpoint in `folder` without changing it. Throws OUTPUT_CHANGED if it belongs to another
 * job.
 */
export async function inspectCheckpoint(
  folder: string,
  identity: CheckpointIdentity,
  { fresh = false, lookback = NO_LOOKBACK }: Restart = {},
): Promise<CheckpointProgress> {
  const replayed = emptyState(identity, Date.now())
  if (!fresh)
    await scanRecordLog(join(folder, CHECKPOINT_FILE), (header, location) =>
      replay(replayed, header, location),
    )
  const state = isReusable(replayed) ? emptyState(identity, Date.now()) : replayed
  requireSameIdentity(state)
  const { isDone } = state
  const at = Date.now()
  if (isDone) {
    const from = lookbackFinder(state.times, lookback, state.base)(writtenEnd(state))
    applyNext(state, { at, cutoffMs: at, from, lookback })
  }
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

/** A page of a log, in the form that `addPage` of a checkpoint accepts. */
type LoggedPage = CheckpointPage & { wallet: string }

/** The log of one run, opened read-only. */
export type PageLog = {
  identity: CheckpointIdentity | undefined
  /** All pages, including those without items, in the order in which they were received. */
  pages: readonly PageFields[]
  /** Yields the pages that match, with their bodies. Throws OUTPUT_FAILED. */
  read(isWanted: (page: PageFields) => boolean): AsyncGenerator<LoggedPage, void, void>
}

/** Reads the record headers of a log. Throws OUTPUT_FAILED. */
export async function openPageLog(path: string): Promise<PageLog> {
  const pageRecords: { fields: PageFields; location: RecordLocation }[] = []
  let identity: CheckpointIdentity | undefined
  await scanRecordLog(path, (header, location) => {
    if (!isRecordHeader(header)) return false
    if (header.kind === 'run') identity ??= header.identity as CheckpointIdentity
    if (header.kind === 'page') pageRecords.push({ fields: header as unknown as PageFields, location })
    return true
  })
  return {
    identity,
    pages: pageRecords.map(({ fields }) => fields),
    read: (isWanted) =>
      readBodies(
        path,
        pageRecords.filter(({ fields }) => isWanted(fields)),
      ),
  }
}

async function* readBodies(
  path: string,
  wanted: readonly { fields: PageFields; location: RecordLocation }[],
): AsyncGenerator<LoggedPage, void, void> {
  if (wanted.length === 0) return
  const file = await open(path, 'r')
  try {
    for (const { fields, location } of wanted) {
      const { wallet, items, bad, blocks, head, covered } = fields
      const body = Buffer.allocUnsafe(location.bytes)
      const { bytesRead } = await file.read(body, 0, location.bytes, location.offset)
      if (bytesRead < location.bytes)
        throw diskError(`cannot read ${path}`, new Error('unexpected end of file'))
      yield { wallet, body, items, bad, covered, blocks: blocks ?? undefined, head: head ?? undefined }
    }
  } finally {
    await file.close()
  }
}
