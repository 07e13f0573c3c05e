import { unionRanges } from '../core/model/block-ranges.ts'
import { BLOCKS } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { sumUnknownsIfPresent, type Unknowns } from '../core/model/unknowns.ts'
import { type BlockState, replayBlockRecord } from './block-checkpoint.ts'
import type { CheckpointIdentity } from './checkpoint-identity.ts'
import { applyHashes, dropUnusedHashes } from './fingerprints.ts'
import {
  addRecord,
  beginReading,
  completeBlocks,
  type DroppedRecord,
  dropRecord,
  type ListingState,
  reopenBlocks,
} from './listing-state.ts'
import { isRecordHeader } from './record-header.ts'
import type { RecordLocation, WholeRecordLocation } from './record-log.ts'

/** A stretch of blocks whose files were written, with the transactions in it by wallet, and those of which something is unknown. */
export type WrittenRange = { from: number; to: number; seen: Record<string, number> } & Partial<Unknowns>

/** What the frames of a spool say, kept up to date as they are written. */
export type CheckpointState = {
  identity: CheckpointIdentity
  cutMs: number
  /** When the run that is under way began, milliseconds since 1970: it and its resumes have this in common. */
  begunMs: number
  /** That run was begun to replace whatever the output holds. */
  isFresh: boolean
  session: number
  /** The number of the run that is under way, or was last, and of each run the block from which on it asks. */
  run: number
  startBlocks: number[]
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
  written: WrittenRange[]
  /** Where the log has the fingerprints of what was written, by `hashesKey` (fingerprints.ts); absent where it has none. */
  hashes: Map<string, RecordLocation[]>
  /** Blocks that the run that is under way reads again by themselves, by listing. */
  reopened: Map<string, BlockRange[]>
  /** No run is under way: the last one has written its files. */
  isDone: boolean
  stored: CheckpointIdentity | undefined
  /** Of a job of blocks. */
  blocks: BlockState
}

export function emptyState(identity: CheckpointIdentity, now: number): CheckpointState {
  const cutMs = identity.endBlock === null ? now - identity.finalityMs : Number.POSITIVE_INFINITY
  return {
    identity,
    cutMs,
    begunMs: now,
    isFresh: false,
    session: 0,
    run: 0,
    startBlocks: [identity.startBlock],
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
    stored: undefined,
    blocks: { missing: [], partial: new Map() },
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
export function replay(
  state: CheckpointState,
  header: Record<string, unknown>,
  location: WholeRecordLocation,
): boolean {
  if (!isRecordHeader(header) || (header.kind === 'run') !== (state.session === 0)) return false
  if (header.kind === 'run') {
    state.stored = header.identity as CheckpointIdentity
    state.cutMs = (header.cutMs as number | null) ?? Number.POSITIVE_INFINITY
    state.session = 1
    state.begunMs = Number(header.at)
    state.isFresh = header.fresh === true
    applyBase(state, header.before as WrittenRange | undefined)
  } else if (header.kind === 'open') applyOpen(state)
  else if (header.kind === 'end') applyEnd(state, header.end as number)
  else if (header.kind === 'reopen') applyReopened(state, header as unknown as ReopenedBlocks)
  else if (header.kind === 'drop') applyDropped(state, header as unknown as DroppedPages)
  else if (header.kind === 'hashes') applyHashes(state, header as unknown as BlockRange, location)
  else if (header.kind === 'done') applyDone(state, header as unknown as WrittenRange)
  else if (header.kind === 'next') applyNext(state, header as unknown as NextRun)
  else if (!replayBlockRecord(blockTarget(state), header, location))
    applyPage(state, header as unknown as PageFields, location)
  return true
}

const blockTarget = (state: CheckpointState) => ({
  blocks: state.blocks,
  listing: () => listingOf(state, BLOCKS),
})

/** Takes what was exported before for granted: only what comes after it is asked. */
export function applyBase(state: CheckpointState, before: WrittenRange | undefined): void {
  if (before === undefined) return
  state.base = before.to
  state.from = before.to
  state.written = [before]
}

/** The files of these blocks are written, and with them the run is over. */
export function applyDone(state: CheckpointState, done: WrittenRange): void {
  const { from, to, seen } = done
  state.isDone = true
  state.isFresh = false
  const written = { from, to, seen, ...sumUnknownsIfPresent([done]) }
  if (from < to) state.written = [...state.written.filter((one) => one.to <= from), written]
  dropUnusedHashes(state)
}

/** A process goes on with the run. */
export function applyOpen(state: CheckpointState): void {
  state.session += 1
  dropUnusedHashes(state)
}

export type ReopenedBlocks = BlockRange & { wallet: string }

/** Notes that the run that is under way reads blocks of a listing again. */
export function applyReopened(state: CheckpointState, { wallet, from, to }: ReopenedBlocks): void {
  reopenBlocks(listingOf(state, wallet), { from, to }, state)
  state.reopened.set(wallet, unionRanges([...(state.reopened.get(wallet) ?? []), { from, to }]))
}

export type DroppedPages = DroppedRecord & { wallet: string }

/** Notes that pages of a listing do not count, since they cannot be read. */
export function applyDropped(state: CheckpointState, { wallet, ...dropped }: DroppedPages): void {
  dropRecord(listingOf(state, wallet), dropped, state)
}

/** `cutMs`: null where the run has a fixed end. */
export type NextRun = { at: number; cutMs: number | null; from: number }

/**
 * Begins the next run: it asks every listing that it reads from `from` on, where what was read before counts no more
 * then, and for what earlier runs have not read of it, because it was not in the job.
 */
export function applyNext(state: CheckpointState, { at: begunMs, cutMs, from }: NextRun): void {
  const run = state.run + 1
  state.startBlocks.push(from)
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

export function applyPage(
  state: CheckpointState,
  { wallet, items, bad, young, blocks, head, covered }: PageFields,
  location: WholeRecordLocation,
): void {
  const listing = listingOf(state, wallet)
  beginReading(listing, state)
  if (covered.to === NO_END && covered.from < covered.to) {
    listing.head = Math.max(listing.head ?? -1, head ?? state.from)
    listing.headSession = state.session
  }
  state.pages += 1
  completeBlocks(listing, covered)
  state.blocks.partial.delete(covered.from)
  if (head !== null) state.head = Math.max(state.head ?? head, head)
  state.sessionHeads[state.session] = state.head
  if (items > 0)
    addRecord(listing, { wallet, location, blocks, items, bad, ...(young === undefined ? {} : { young }) })
}

export function listingOf(state: CheckpointState, name: string): ListingState {
  const known = state.listings.get(name)
  if (known !== undefined) return known
  const fresh: ListingState = {
    remaining: [{ from: state.base, to: state.identity.endBlock ?? NO_END }],
    head: undefined,
    headSession: undefined,
    run: state.run,
    records: [],
  }
  state.listings.set(name, fresh)
  return fresh
}

/** One past the last block that runs have written. */
export function writtenEnd({ written, base }: CheckpointState): number {
  return written.at(-1)?.to ?? base
}

/** One past the highest block that any wallet showed; never before the end of an earlier run. */
export function nextEnd({ from, head, written }: CheckpointState): number {
  return Math.max(from, head === undefined ? 0 : head + 1, written.at(-1)?.to ?? 0)
}

/**
 * Fixes the end. Where the chain was seen to grow between two processes, wallets whose newest blocks the earlier one
 * read lack what came since: from their own newest block on they are to be asked again.
 */
export function applyEnd(state: CheckpointState, end: number): void {
  state.end = end
  for (const { run, remaining, head, headSession } of state.listings.values()) {
    if (run !== state.run || headSession === undefined || head === undefined) continue
    const previousHead = state.sessionHeads[headSession] ?? end
    if (headSession < state.session && previousHead + 1 < end && head + 1 < end)
      remaining.push({ from: head, to: end })
  }
}
