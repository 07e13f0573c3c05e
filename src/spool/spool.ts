import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../core/disk.ts'
import { BLOCKS, type Listings } from '../core/listings.ts'
import type { BlockRange } from '../core/model.ts'
import { type BlockSpool, blockSpoolOn } from './blocks.ts'
import { countedFrames, type Frame, openBlocks } from './listing.ts'
import { type FrameLog, type FramePlace, openFrameLog, scanFrameLog, type WholePlace } from './log.ts'
import {
  emptyState,
  endOf,
  isUnbound,
  listingOf,
  noteBase,
  noteDone,
  noteEnd,
  noteNext,
  notePage,
  replay,
  requireSameIdentity,
  type SpoolIdentity,
  type SpoolState,
  settledBy,
  type Written,
} from './state.ts'
import { bodiesIn } from './stretch.ts'

type SpooledPage = {
  body: Buffer
  items: number
  blocks: { min: number; max: number } | undefined
  head: number | undefined
  /** Items that have no place in the chain. */
  bad: number
  covered: BlockRange
}

/** The checkpoint of a run: every page it has received, and so what is left to ask. */
export type Spool = BlockSpool & {
  /** The file with the pages, where `frames` have their places. */
  path: string
  /** Transactions younger than this are left for a later run, milliseconds since 1970; Infinity with an endBlock. */
  cutMs: number
  /** True where an earlier, unfinished run is being continued. */
  resumed: boolean
  /** Block ranges of a listing that no page has settled yet, of those in which it counts. @default all of them */
  remaining(listing: string, counted?: BlockRange): readonly BlockRange[]
  /** Keeps a page; resolves when it is on disk. */
  addPage(wallet: string, page: SpooledPage): Promise<void>
  /** Blocks that no listing has anything left to ask in, and that stay so. */
  settled(listings: Listings): BlockRange[]
  /** The pages of each listing, in the order of receipt. */
  frames(listings: Listings): Frame[]
  /** The highest block seen that is old enough; undefined where there was none. */
  head(): number | undefined
  /**
   * The end of the run, exclusive, the same for all wallets and kept across resumes. Without an endBlock it is settled
   * at the first call, one past the head or at `least`; where the chain grew between two processes, wallets whose newest blocks the
   * earlier one read then have the blocks from there up to the end in `remaining` again.
   */
  settleEnd(least?: number): Promise<number>
  /** The body there; of a stretch of blocks all bodies as one JSON list. */
  read(place: FramePlace): Promise<Buffer>
  /** Blocks before this one were written by runs whose pages are gone. */
  base: number
  /** From here on the run asks what wallets of earlier runs lack. */
  from: number
  /** What runs have written, in the order of blocks. */
  written(): readonly Written[]
  /** Ends the run, its files being written: the pages stay, so that a later run can go on from here. */
  finish(written: Written): Promise<void>
  close(): Promise<void>
}

export type OpenSpool = {
  /** The output's private folder. */
  folder: string
  identity: SpoolIdentity
  now: number
  /** What was exported by runs whose pages are gone; a spool that is begun asks only for what comes after it. */
  before?: Written | undefined
  /** A next run asks so many blocks again that earlier runs have read. @default 0 */
  rereadBlocks?: number
  onDamage: (damage: { bytes: number; kept: string | undefined }) => void
}

/** Opens the spool in `folder`, or begins one. Throws OUTPUT_CHANGED where it belongs to a different job. */
export async function openSpool(options: OpenSpool): Promise<Spool> {
  const { folder, identity, now, onDamage } = options
  await makeFolder(folder)
  const state = emptyState(identity, now)
  const onFrame = (head: Record<string, unknown>, place: WholePlace) => replay(state, head, place)
  const path = join(folder, SPOOL_FILE)
  const log = await openFrameLog(path, { onFrame, onDamage })
  try {
    // A run that got no page binds nobody: the next job begins its own.
    if (isUnbound(state)) {
      await log.close()
      await removeSpool(folder)
      return await openSpool(options)
    }
    requireSameIdentity(state)
    return spoolOn({ path, log, state, resumed: await beginSession(log, state, options) })
  } catch (cause) {
    await log.close()
    throw cause
  }
}

/** True where an unfinished run goes on. */
async function beginSession(
  log: FrameLog,
  state: SpoolState,
  { identity, now, before, rereadBlocks = 0 }: OpenSpool,
): Promise<boolean> {
  const { session, isDone } = state
  if (session > 0 && !isDone) {
    await log.append({ kind: 'open', at: now }, EMPTY)
    state.session += 1
    return true
  }
  if (isDone) {
    const end = state.written.at(-1)?.to ?? state.base
    const next = { cutMs: now - identity.finalityMs, from: Math.max(state.base, end - rereadBlocks) }
    await log.append({ kind: 'next', at: now, ...next }, EMPTY)
    noteNext(state, next)
    return false
  }
  const cutMs = Number.isFinite(state.cutMs) ? state.cutMs : null
  await log.append({ kind: 'run', identity, cutMs, before, at: now }, EMPTY)
  noteBase(state, before)
  state.session = 1
  return false
}

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
  if (isDone) noteNext(state, { cutMs: Date.now(), from: state.written.at(-1)?.to ?? state.base })
  return {
    begun: state.session > 0,
    isDone,
    pages: state.pages,
    items: countItems(state),
    head: state.head,
    remaining: (wallet) => openBlocks(listingOf(state, wallet), state),
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

/** Forgets the spool in `folder`. */
export async function removeSpool(folder: string): Promise<void> {
  for (const name of [`${SPOOL_FILE}.damaged.part`, SPOOL_FILE]) await rm(join(folder, name), { force: true })
}

const SPOOL_FILE = 'pages.log'
const EMPTY = Buffer.alloc(0)

type OpenedSpool = { path: string; log: FrameLog; state: SpoolState; resumed: boolean }

function spoolOn({ path, log, state, resumed }: OpenedSpool): Spool {
  return {
    path,
    cutMs: state.cutMs,
    resumed,
    remaining: (listing, counted) => openBlocks(listingOf(state, listing), state, counted),
    addPage: async (wallet, { body, items, bad, blocks, head, covered }) => {
      const fields = { items, bad, blocks: blocks ?? null, head: head ?? null, covered }
      const place = await log.append({ kind: 'page', wallet, ...fields }, body)
      notePage(state, { wallet, ...fields }, place)
    },
    ...blockSpoolOn(log, { blocks: state.blocks, listing: () => listingOf(state, BLOCKS) }),
    settled: (listings) => settledBy(state, listings),
    frames: (listings) =>
      [...listings].flatMap(([name, counted]) => countedFrames(listingOf(state, name), counted)),
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
    finish: async (written) => {
      await log.append({ kind: 'done', ...written }, EMPTY)
      await log.sync()
      noteDone(state, written)
    },
    close: () => log.close(),
  }
}
