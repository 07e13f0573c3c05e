import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool } from '../checkpoint/checkpoint.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { makeFolder } from '../core/platform/disk.ts'
import { requireLock } from '../core/platform/lock/lock.ts'
import { sweepTemporaries } from '../core/platform/temporary-file.ts'
import { blockSpoolOn } from './block-checkpoint.ts'
import { isUnbound, requireSameIdentity, type SpoolIdentity } from './checkpoint-identity.ts'
import {
  emptyState,
  endOf,
  listingOf,
  noteBase,
  noteDone,
  noteEnd,
  noteNext,
  noteOpen,
  notePage,
  replay,
  type SpoolState,
  type Written,
  writtenTo,
} from './checkpoint-state.ts'
import { bodiesIn } from './coalesced-records.ts'
import { countedFrames, readAgainOf } from './listing-state.ts'
import { type FrameLog, openFrameLog, type WholePlace } from './record-log.ts'
import { coveredTo, remainingOf } from './remaining.ts'
import { rereadsOn } from './reread-state.ts'

export type OpenCheckpoint = {
  /** The output's private folder. */
  folder: string
  identity: SpoolIdentity
  now: number
  onDamage: (damage: { bytes: number; kept: string | undefined }) => void
}

/** How a run begins, or goes on. */
type Begin = {
  /** What was exported by runs whose pages are gone; a spool that is begun has no pages of it. */
  before?: Written | undefined
  /** The run reads again from this block on, where it has pages to go on from. @default the end of the last run */
  from?: number
  /** It replaces whatever the output holds. @default false */
  isFresh?: boolean
}

/** The pages that an output holds, before a run goes on with them. */
export type Checkpoint = {
  /** An unfinished run, and one that is to replace whatever the output holds. */
  isUnderWay: boolean
  isFresh: boolean
  /** Blocks before this one were written by runs whose pages are gone. */
  base: number
  /** One past the last block that runs have written. */
  end: number
  begin(begin: Begin): Promise<Spool>
  close(): Promise<void>
}

/** Opens the pages in `folder`, if any. Throws OUTPUT_CHANGED where they belong to a different job. */
export async function openCheckpoint(options: OpenCheckpoint): Promise<Checkpoint> {
  const { folder, identity, now } = options
  await makeFolder(folder)
  const path = join(folder, SPOOL_FILE)
  const { log, state } = await openLog(path, options)
  const { session, isDone, isFresh, base } = state
  return {
    isUnderWay: session > 0 && !isDone,
    ...{ isFresh, base, end: writtenTo(state) },
    begin: async (begin) =>
      spoolOn({ path, log, state, resumed: await beginSession(log, state, { ...begin, identity, now }) }),
    close: () => log.close(),
  }
}

async function openLog(path: string, options: OpenCheckpoint): Promise<{ log: FrameLog; state: SpoolState }> {
  const { folder, identity, now, onDamage } = options
  const state = emptyState(identity, now)
  const onFrame = (head: Record<string, unknown>, place: WholePlace) => replay(state, head, place)
  const log = await openFrameLog(path, { onFrame, onDamage })
  try {
    if (!isUnbound(state)) {
      requireSameIdentity(state)
      return { log, state }
    }
  } catch (cause) {
    await log.close()
    throw cause
  }
  // A run that got no page binds nobody: the next job begins its own.
  await log.close()
  await removeSpool(folder)
  return openLog(path, options)
}

/** Opens the pages in `folder` and goes on with them, or begins. Throws OUTPUT_CHANGED as `openCheckpoint` does. */
export async function openSpool(options: OpenCheckpoint): Promise<Spool> {
  return (await openCheckpoint(options)).begin({})
}

type Beginning = Begin & Pick<OpenCheckpoint, 'identity' | 'now'>

/** True where an unfinished run goes on. */
async function beginSession(log: FrameLog, state: SpoolState, beginning: Beginning): Promise<boolean> {
  const { identity, now: at, before, from, isFresh } = beginning
  const { session, isDone } = state
  if (session > 0 && !isDone) {
    await log.append({ kind: 'open', at }, EMPTY)
    noteOpen(state)
    return true
  }
  if (isDone) {
    const wanted = Math.max(state.base, from ?? writtenTo(state))
    const next = { at, cutMs: identity.endBlock === null ? at - identity.finalityMs : null, from: wanted }
    await log.append({ kind: 'next', ...next }, EMPTY)
    noteNext(state, next)
    return false
  }
  const cutMs = Number.isFinite(state.cutMs) ? state.cutMs : null
  await log.append({ kind: 'run', identity, cutMs, before, at, ...(isFresh && { fresh: true }) }, EMPTY)
  noteBase(state, before)
  Object.assign(state, { session: 1, isFresh: isFresh === true })
  return false
}

/** Forgets the spool in `folder`. Throws OUTPUT_LOCKED where another process has taken over the folder's lock. */
export async function removeSpool(folder: string): Promise<void> {
  await requireLock(folder)
  await sweepTemporaries(folder)
  await rm(join(folder, SPOOL_FILE), { force: true })
}

/** The name of the file with the pages. */
export const SPOOL_FILE = 'pages.log'

const EMPTY = Buffer.alloc(0)

type OpenedSpool = { path: string; log: FrameLog; state: SpoolState; resumed: boolean }

function spoolOn({ path, log, state, resumed }: OpenedSpool): Spool {
  return {
    path,
    cutMs: state.cutMs,
    begunMs: state.begunMs,
    resumed,
    remaining: (listing, counted) => remainingOf(state, listing, counted),
    coveredTo: (listing) => coveredTo(state, listing),
    addPage: async (wallet, { body, items, bad, young = 0, blocks, head, covered }) => {
      const counts = young === 0 ? { items, bad } : { items, bad, young }
      const fields = { ...counts, blocks: blocks ?? null, head: head ?? null, covered }
      const place = await log.append({ kind: 'page', wallet, ...fields }, body)
      notePage(state, { wallet, ...fields }, place)
      return place
    },
    ...blockSpoolOn(log, { blocks: state.blocks, listing: () => listingOf(state, BLOCKS) }),
    frames: (listings) =>
      [...listings].flatMap(([name, counted]) => countedFrames(listingOf(state, name), counted)),
    readAgain: (listing) => readAgainOf(listingOf(state, listing), state),
    head: () => state.head,
    settleEnd: async (least = 0) => {
      if (state.identity.endBlock !== null) return state.identity.endBlock
      if (state.end === undefined) {
        const end = Math.max(endOf(state), least)
        await log.append({ kind: 'end', end }, EMPTY)
        noteEnd(state, end)
      }
      return state.end ?? state.identity.startBlock
    },
    read: async (place) => {
      const body = await log.read(place)
      return state.identity.kind === 'blocks' ? bodiesIn(body) : body
    },
    base: state.base,
    from: state.from,
    written: () => state.written,
    ...rereadsOn(log, state),
    finish: async (written) => {
      await log.append({ kind: 'done', ...written }, EMPTY)
      await log.sync()
      noteDone(state, written)
    },
    close: () => log.close(),
  }
}
