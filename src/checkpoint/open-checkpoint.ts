import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BLOCKS } from '../core/model/listings.ts'
import { type Lookback, NO_LOOKBACK } from '../core/model/lookback.ts'
import { makeFolder } from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { removeStaleTemporaries } from '../core/platform/temporary-file.ts'
import { blockCheckpointOn } from './block-checkpoint.ts'
import { lookbackFinder } from './block-times.ts'
import { type Checkpoint, rereadStateOn } from './checkpoint.ts'
import { type CheckpointIdentity, isReusable, requireSameIdentity } from './checkpoint-identity.ts'
import {
  applyBase,
  applyDone,
  applyEnd,
  applyNext,
  applyOpen,
  applyPage,
  type CheckpointState,
  coveredTo,
  type EarlierExport,
  emptyState,
  indexedAtStart,
  listingOf,
  nextEnd,
  remainingOf,
  replay,
  writtenEnd,
} from './checkpoint-state.ts'
import { feeCheckpointOn } from './fees.ts'
import { countedRecords, joinBodies, rereadPagesOf } from './listing-state.ts'
import { type LogDamage, openRecordLog, type RecordLog, type WholeRecordLocation } from './record-log.ts'

export type CheckpointOptions = {
  /** The output's private folder. */
  folder: string
  identity: CheckpointIdentity
  now: number
  onDamage: (damage: LogDamage) => void
}

/** How a run begins. Ignored if an unfinished run is resumed. */
type BeginOptions = {
  /** The range exported by runs without a checkpoint. Used if the run starts a new checkpoint. */
  before?: EarlierExport | undefined
  /** How far an incremental run reads back, if the checkpoint contains a finished run. @default not at all */
  lookback?: Lookback
  /** Replaces everything in the output. @default false */
  isFresh?: boolean
}

/** An open checkpoint before a run begins or resumes. */
export type PendingCheckpoint = {
  isUnfinished: boolean
  /** Whether the unfinished run replaces everything in the output. */
  isFresh: boolean
  /** Blocks before this one were written by runs whose pages are no longer in the checkpoint. */
  base: number
  begin(begin: BeginOptions): Promise<Checkpoint>
  close(): Promise<void>
}

/** Opens or creates the checkpoint in `folder`. Throws OUTPUT_CHANGED if it belongs to another job. */
export async function openPendingCheckpoint(options: CheckpointOptions): Promise<PendingCheckpoint> {
  const { folder, identity, now } = options
  await makeFolder(folder)
  const path = join(folder, CHECKPOINT_FILE)
  const { log, state } = await openLog(path, options)
  const { session, isDone, isFresh, base } = state
  return {
    isUnfinished: session > 0 && !isDone,
    isFresh,
    base,
    begin: async (begin) =>
      checkpointOn({
        path,
        log,
        state,
        resumed: await beginSession(log, state, { ...begin, identity, now }),
      }),
    close: () => log.close(),
  }
}

async function openLog(
  path: string,
  options: CheckpointOptions,
): Promise<{ log: RecordLog; state: CheckpointState }> {
  const { folder, identity, now, onDamage } = options
  const state = emptyState(identity, now)
  const onRecord = (header: Record<string, unknown>, location: WholeRecordLocation) =>
    replay(state, header, location)
  const log = await openRecordLog(path, { onRecord, onDamage })
  try {
    if (!isReusable(state)) {
      requireSameIdentity(state)
      return { log, state }
    }
  } catch (cause) {
    await log.close()
    throw cause
  }
  // A checkpoint without pages does not tie the output to its job: another job can replace it.
  await log.close()
  await removeCheckpoint(folder)
  return openLog(path, options)
}

/**
 * Opens the checkpoint in `folder` and begins or resumes a run. Throws OUTPUT_CHANGED if it belongs to
 * another job.
 */
export async function openCheckpoint(options: CheckpointOptions): Promise<Checkpoint> {
  return (await openPendingCheckpoint(options)).begin({})
}

type SessionStart = BeginOptions & Pick<CheckpointOptions, 'identity' | 'now'>

/** Begins or resumes a run. Resolves with true if an unfinished run is resumed. */
async function beginSession(log: RecordLog, state: CheckpointState, start: SessionStart): Promise<boolean> {
  const { identity, now: at, before, lookback = NO_LOOKBACK, isFresh } = start
  const { session, isDone } = state
  if (session > 0 && !isDone) {
    await log.append({ kind: 'open', at }, EMPTY_BODY)
    applyOpen(state)
    return true
  }
  if (isDone) {
    const next = {
      at,
      cutoffMs: identity.endBlock === null ? at - identity.finalityMs : null,
      from: lookbackFinder(state.times, lookback, state.base)(writtenEnd(state)),
      lookback,
    }
    await log.append({ kind: 'next', ...next }, EMPTY_BODY)
    applyNext(state, next)
    return false
  }
  const cutoffMs = Number.isFinite(state.cutoffMs) ? state.cutoffMs : null
  await log.append(
    { kind: 'run', identity, cutoffMs, before, at, ...(isFresh && { fresh: true }) },
    EMPTY_BODY,
  )
  applyBase(state, before)
  Object.assign(state, { session: 1, isFresh: isFresh === true })
  return false
}

/**
 * Deletes the checkpoint in `folder`. Throws OUTPUT_LOCKED if another process has taken over the lock of the
 * folder.
 */
export async function removeCheckpoint(folder: string): Promise<void> {
  await requireLock(folder)
  await removeStaleTemporaries(folder)
  await rm(join(folder, CHECKPOINT_FILE), { force: true })
}

/** Whether the folder has a checkpoint, even an empty one. */
export async function hasCheckpoint(folder: string): Promise<boolean> {
  return (await stat(join(folder, CHECKPOINT_FILE)).catch(() => undefined)) !== undefined
}

/** File name of the log. */
export const CHECKPOINT_FILE = 'pages.log'

const EMPTY_BODY = Buffer.alloc(0)

type OpenedCheckpoint = { path: string; log: RecordLog; state: CheckpointState; resumed: boolean }

function checkpointOn({ path, log, state, resumed }: OpenedCheckpoint): Checkpoint {
  return {
    path,
    get cutoffMs() {
      return state.cutoffMs
    },
    lowerCutoff: async (cutoffMs) => {
      await log.append({ kind: 'cutoff', cutoffMs }, EMPTY_BODY)
      state.cutoffMs = cutoffMs
    },
    begunMs: state.begunMs,
    resumed,
    remaining: (listing, bounds) => remainingOf(state, listing, bounds),
    coveredTo: (listing) => coveredTo(state, listing),
    opening: (listing) => listingOf(state, listing).opening,
    gaps: (listing) => listingOf(state, listing).gaps,
    indexedTo: (listing) => listingOf(state, listing).indexedTo,
    indexedAtStart: () => indexedAtStart(state),
    addProof: async (to) => {
      await log.append({ kind: 'indexed', to }, EMPTY_BODY)
      state.provenTo = to
    },
    addPage: async (wallet, page) => {
      const { body, items, bad, afterCutoff = 0, blocks = null, head = null, times, covered } = page
      const { gaps = [], opening } = page
      const counts = afterCutoff === 0 ? { items, bad } : { items, bad, afterCutoff }
      const indexed = page.indexed === undefined || page.indexed === head ? {} : { indexed: page.indexed }
      const listed = { ...(gaps.length > 0 && { gaps }), ...(opening !== undefined && { opening }) }
      const fields = { ...counts, ...listed, blocks, head, ...indexed, times, covered }
      const location = await log.append({ kind: 'page', wallet, ...fields }, body)
      applyPage(state, { wallet, ...fields }, location)
      return location
    },
    ...blockCheckpointOn(log, { blocks: state.blocks, listing: () => listingOf(state, BLOCKS) }),
    records: (listings) =>
      [...listings].flatMap(([name, bounds]) => countedRecords(listingOf(state, name), bounds)),
    rereadPages: (listing) => rereadPagesOf(listingOf(state, listing), state),
    head: () => state.head,
    pinEndBlock: async (minEnd = 0) => {
      if (state.identity.endBlock !== null) return state.identity.endBlock
      if (state.end === undefined) {
        const end = Math.max(nextEnd(state), minEnd)
        await log.append({ kind: 'end', end }, EMPTY_BODY)
        applyEnd(state, end)
      }
      return state.end ?? state.identity.startBlock
    },
    read: async (location) => {
      const body = await log.read(location)
      return state.identity.kind === 'blocks' ? joinBodies(body) : body
    },
    base: state.base,
    from: state.from,
    written: () => state.written,
    ...rereadStateOn(log, state),
    ...feeCheckpointOn(log, state.fees),
    finish: async (written) => {
      await log.append({ kind: 'done', ...written }, EMPTY_BODY)
      await log.sync()
      applyDone(state, written)
    },
    close: () => log.close(),
  }
}
