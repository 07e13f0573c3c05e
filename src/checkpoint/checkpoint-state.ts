import { uniteRanges } from '../core/model/block-ranges.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { sumIfCounted, type Unknowns } from '../core/model/unknowns.ts'
import { type BlockState, replayBlocks } from './block-checkpoint.ts'
import type { SpoolIdentity } from './checkpoint-identity.ts'
import {
  addFrame,
  beginReading,
  type DroppedFrame,
  dropFrame,
  type ListingState,
  reopenBlocks,
  settleBlocks,
} from './listing-state.ts'
import { isFrameHead } from './record-header.ts'
import type { FramePlace, WholePlace } from './record-log.ts'

/** A stretch of blocks whose files were written, with the transactions in it by wallet, and those of which something is unknown. */
export type Written = { from: number; to: number; seen: Record<string, number> } & Partial<Unknowns>

/** What the frames of a spool say, kept up to date as they are written. */
export type SpoolState = {
  identity: SpoolIdentity
  cutMs: number
  /** When the run that is under way began, milliseconds since 1970: it and its resumes have this in common. */
  begunMs: number
  /** That run was begun to replace whatever the output holds. */
  isFresh: boolean
  session: number
  /** The number of the run that is under way, or was last, and of each run the block from which on it asks. */
  run: number
  froms: number[]
  listings: Map<string, ListingState>
  pages: number
  head: number | undefined
  /** The highest block seen by the end of each process, by session. */
  sessionHeads: (number | undefined)[]
  /** The settled end of a run without endBlock. */
  end: number | undefined
  /** Blocks before this one were written by runs whose pages are gone. */
  base: number
  /** From here on the run that is under way asks. */
  from: number
  /** What runs have written, in the order of blocks. */
  written: Written[]
  /** Where the log has the fingerprints of what was written, by `hashesKey`; absent where it has none. */
  hashes: Map<string, FramePlace[]>
  /** Blocks that the run that is under way reads again by themselves, by listing. */
  reopened: Map<string, BlockRange[]>
  /** No run is under way: the last one has written its files. */
  isDone: boolean
  found: SpoolIdentity | undefined
  /** Of a job of blocks. */
  blocks: BlockState
}

export function emptyState(identity: SpoolIdentity, now: number): SpoolState {
  const cutMs = identity.endBlock === null ? now - identity.finalityMs : Number.POSITIVE_INFINITY
  return {
    identity,
    cutMs,
    begunMs: now,
    isFresh: false,
    session: 0,
    run: 0,
    froms: [identity.startBlock],
    listings: new Map(),
    pages: 0,
    head: undefined,
    sessionHeads: [],
    end: undefined,
    base: identity.startBlock,
    from: identity.startBlock,
    written: [],
    hashes: new Map(),
    reopened: new Map(),
    isDone: false,
    found: undefined,
    blocks: { missing: [], begun: new Map() },
  }
}

export type PageFields = {
  wallet: string
  items: number
  bad: number
  /** Items that may be younger than the run's cut. @default 0 */
  young?: number
  blocks: { min: number; max: number } | null
  head: number | null
  covered: BlockRange
}

/** Notes what a frame says; false where it is none of ours, or stands where it cannot. */
export function replay(state: SpoolState, head: Record<string, unknown>, place: WholePlace): boolean {
  if (!isFrameHead(head) || (head.kind === 'run') !== (state.session === 0)) return false
  if (head.kind === 'run') {
    state.found = head.identity as SpoolIdentity
    state.cutMs = (head.cutMs as number | null) ?? Number.POSITIVE_INFINITY
    state.session = 1
    state.begunMs = Number(head.at)
    state.isFresh = head.fresh === true
    noteBase(state, head.before as Written | undefined)
  } else if (head.kind === 'open') noteOpen(state)
  else if (head.kind === 'end') noteEnd(state, head.end as number)
  else if (head.kind === 'reopen') noteReopened(state, head as unknown as ReopenedBlocks)
  else if (head.kind === 'drop') noteDropped(state, head as unknown as DroppedPages)
  else if (head.kind === 'hashes') noteHashes(state, head as unknown as BlockRange, place)
  else if (head.kind === 'done') noteDone(state, head as unknown as Written)
  else if (head.kind === 'next') noteNext(state, head as unknown as NextRun)
  else if (!replayBlocks({ blocks: state.blocks, listing: () => listingOf(state, BLOCKS) }, head, place))
    notePage(state, head as unknown as PageFields, place)
  return true
}

/** Takes what was exported before for granted: only what comes after it is asked. */
export function noteBase(state: SpoolState, before: Written | undefined): void {
  if (before === undefined) return
  state.base = before.to
  state.from = before.to
  state.written = [before]
}

/** The files of these blocks are written, and with them the run is over. */
export function noteDone(state: SpoolState, done: Written): void {
  const { from, to, seen } = done
  state.isDone = true
  state.isFresh = false
  const written = { from, to, seen, ...sumIfCounted([done]) }
  if (from < to) state.written = [...state.written.filter((one) => one.to <= from), written]
  forgetHashes(state)
}

/** A process goes on with the run. */
export function noteOpen(state: SpoolState): void {
  state.session += 1
  forgetHashes(state)
}

export const hashesKey = ({ from, to }: BlockRange): string => `${from}-${to}`

/** Notes where fingerprints of these blocks' transactions lie: all of them, or a part. */
export function noteHashes({ hashes }: SpoolState, range: BlockRange, { offset, bytes }: FramePlace): void {
  hashes.set(hashesKey(range), [...(hashes.get(hashesKey(range)) ?? []), { offset, bytes }])
}

/** Forgets the fingerprints of what was not written in the end, or was written anew. */
function forgetHashes({ hashes, written }: SpoolState): void {
  const kept = new Set(written.map(hashesKey))
  for (const key of hashes.keys()) if (!kept.has(key)) hashes.delete(key)
}

export type ReopenedBlocks = BlockRange & { wallet: string }

/** Notes that the run that is under way reads blocks of a listing again. */
export function noteReopened(state: SpoolState, { wallet, from, to }: ReopenedBlocks): void {
  reopenBlocks(listingOf(state, wallet), { from, to }, state)
  state.reopened.set(wallet, uniteRanges([...(state.reopened.get(wallet) ?? []), { from, to }]))
}

export type DroppedPages = DroppedFrame & { wallet: string }

/** Notes that pages of a listing do not count, since they cannot be read. */
export function noteDropped(state: SpoolState, { wallet, ...dropped }: DroppedPages): void {
  dropFrame(listingOf(state, wallet), dropped, state)
}

/** `cutMs`: null where the run has a fixed end. */
export type NextRun = { at: number; cutMs: number | null; from: number }

/**
 * Begins the next run: it asks every listing that it reads from `from` on, where what was read before counts no more
 * then, and for what earlier runs have not read of it, because it was not in the job.
 */
export function noteNext(state: SpoolState, { at: begunMs, cutMs, from }: NextRun): void {
  const run = state.run + 1
  state.froms.push(from)
  Object.assign(state, {
    run,
    begunMs,
    cutMs: cutMs ?? Number.POSITIVE_INFINITY,
    from,
    isDone: false,
    end: undefined,
    session: 1,
    sessionHeads: [],
    reopened: new Map(),
  })
}

export function notePage(
  state: SpoolState,
  { wallet, items, bad, young, blocks, head, covered }: PageFields,
  place: WholePlace,
): void {
  const at = listingOf(state, wallet)
  beginReading(at, state)
  if (covered.to === NO_END && covered.from < covered.to) {
    at.head = Math.max(at.head ?? -1, head ?? state.from)
    at.topSession = state.session
  }
  state.pages += 1
  settleBlocks(at, covered)
  state.blocks.begun.delete(covered.from)
  if (head !== null) state.head = Math.max(state.head ?? head, head)
  state.sessionHeads[state.session] = state.head
  if (items > 0)
    addFrame(at, { wallet, place, blocks, items, bad, ...(young === undefined ? {} : { young }) })
}

export function listingOf(state: SpoolState, name: string): ListingState {
  const known = state.listings.get(name)
  if (known !== undefined) return known
  const fresh: ListingState = {
    remaining: [{ from: state.base, to: state.identity.endBlock ?? NO_END }],
    head: undefined,
    topSession: undefined,
    run: state.run,
    frames: [],
  }
  state.listings.set(name, fresh)
  return fresh
}

/** One past the last block that runs have written. */
export function writtenTo({ written, base }: SpoolState): number {
  return written.at(-1)?.to ?? base
}

/** One past the highest block that any wallet showed; never before the end of an earlier run. */
export function endOf({ from, head, written }: SpoolState): number {
  return Math.max(from, head === undefined ? 0 : head + 1, written.at(-1)?.to ?? 0)
}

/**
 * Fixes the end. Where the chain was seen to grow between two processes, wallets whose newest blocks the earlier one
 * read lack what came since: from their own newest block on they are to be asked again.
 */
export function noteEnd(state: SpoolState, end: number): void {
  state.end = end
  for (const { run, remaining, head, topSession } of state.listings.values()) {
    if (run !== state.run || topSession === undefined || head === undefined) continue
    const headThen = state.sessionHeads[topSession] ?? end
    if (topSession < state.session && headThen + 1 < end && head + 1 < end)
      remaining.push({ from: head, to: end })
  }
}
