import { unionRanges } from '../core/model/block-ranges.ts'
import type { Gap } from '../core/model/gaps.ts'
import { BLOCKS, UNBOUNDED, walletOf } from '../core/model/listings.ts'
import { type Lookback, NO_LOOKBACK } from '../core/model/lookback.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import type { TokenDecimals } from '../core/model/token-decimals.ts'
import { sumUnknownsIfPresent, type Unknowns } from '../core/model/unknowns.ts'
import { type BlockState, replayBlockRecord } from './block-checkpoint.ts'
import { type BlockTime, lookbackFinder } from './block-times.ts'
import type { CheckpointIdentity } from './checkpoint-identity.ts'
import { emptyFeeState, type FeeState, replayFeeRecord } from './fees.ts'
import {
  addRecord,
  beginReading,
  completeBlocks,
  type DroppedRecord,
  dropRecord,
  type ListingState,
  remainingBlocks,
  reopenBlocks,
} from './listing-state.ts'
import { isRecordHeader } from './record-header.ts'
import type { RecordLocation, WholeRecordLocation } from './record-log.ts'

/** A range that a run has published, with its number of transactions by wallet (`seen`) and the unknowns. */
export type WrittenRange = {
  from: number
  to: number
  seen: Record<string, number>
  /** Time of its last transaction, in milliseconds since 1970. @default unknown, or it has none */
  lastMs?: number | undefined
  /** The decimals in its rows. @default unknown */
  decimals?: TokenDecimals | undefined
  /** If these are unknown, the number of contracts whose rows disagreed. @default 0 */
  decimalsConflict?: number | undefined
} & Partial<Unknowns>

/** The export of runs without a checkpoint, and the wallets that may lack blocks of it from `indexedTo` on. */
export type EarlierExport = WrittenRange & { indexedTo?: Readonly<Record<string, number>> }

/** State of a checkpoint, replayed from its records and updated as records are written. */
export type CheckpointState = {
  identity: CheckpointIdentity
  cutoffMs: number
  /** Start of the current run in milliseconds since 1970. Does not change when the run is resumed. */
  begunMs: number
  /** Whether the current run replaces everything in the output (`--fresh`). */
  isFresh: boolean
  /** Number of processes that have worked on the current run; 0 before the first record. */
  session: number
  /** Number of the current or last run. */
  run: number
  listings: Map<string, ListingState>
  pages: number
  head: number | undefined
  /** Highest block received so far, as of the last page of each process, by session. */
  sessionHeads: (number | undefined)[]
  /** The service had indexed the blocks before this one when the run began, as a request has shown. */
  provenTo: number
  /** Times of blocks, from which lookbacks are derived. */
  times: BlockTime[]
  /** Pinned end of a run without endBlock. */
  end: number | undefined
  /** Blocks before this one were written by runs without pages in this checkpoint. */
  base: number
  /** Listings that may lack blocks before `base`, from these blocks on. */
  lagging: Readonly<Record<string, number>>
  /** First block that the current run requests. */
  from: number
  /** Ranges that runs have written, in ascending order. */
  written: WrittenRange[]
  /** Locations of the transaction fingerprints of written ranges, by `hashesKey`. */
  hashes: Map<string, RecordLocation[]>
  /** By listing, blocks that the current run reads again in addition to the lookback. */
  reopened: Map<string, BlockRange[]>
  /** Whether the last run has published its files and no run is in progress. */
  isDone: boolean
  /** Identity in the checkpoint file, if there is one. */
  stored: CheckpointIdentity | undefined
  /** State of a blocks job. */
  blocks: BlockState
  fees: FeeState
}

export function emptyState(identity: CheckpointIdentity, now: number): CheckpointState {
  const cutoffMs = identity.endBlock === null ? now - identity.finalityMs : Number.POSITIVE_INFINITY
  return {
    identity,
    cutoffMs,
    begunMs: now,
    isFresh: false,
    session: 0,
    run: 0,
    listings: new Map(),
    pages: 0,
    head: undefined,
    sessionHeads: [],
    provenTo: 0,
    times: [],
    end: undefined,
    base: identity.startBlock,
    lagging: {},
    from: identity.startBlock,
    written: [],
    hashes: new Map(),
    reopened: new Map(),
    isDone: false,
    stored: undefined,
    blocks: { missing: [], partial: new Map() },
    fees: emptyFeeState(),
  }
}

export type PageFields = {
  wallet: string
  items: number
  bad: number
  /** Items that may be newer than the run's cutoff. @default 0 */
  afterCutoff?: number
  blocks: { min: number; max: number } | null
  head: number | null
  /** The newest block that the service had indexed, as the answers of the page show. @default `head` */
  indexed?: number | null
  /** @default none */
  times?: readonly BlockTime[] | undefined
  covered: BlockRange
  /** Blocks among them that the service could not list completely. @default none */
  gaps?: readonly Gap[]
  /** Coins that the wallet held before its first transaction, in the smallest unit, if the page states them. @default none */
  opening?: string
}

/** Applies a record. Returns false if it is invalid or out of place, so that it counts as damage. */
export function replay(
  state: CheckpointState,
  header: Record<string, unknown>,
  location: WholeRecordLocation,
): boolean {
  if (!isRecordHeader(header) || (header.kind === 'run') !== (state.session === 0)) return false
  if (header.kind === 'run') {
    state.stored = header.identity as CheckpointIdentity
    state.cutoffMs = (header.cutoffMs as number | null) ?? Number.POSITIVE_INFINITY
    state.session = 1
    state.begunMs = Number(header.at)
    state.isFresh = header.fresh === true
    applyBase(state, header.before as EarlierExport | undefined)
  } else if (header.kind === 'open') applyOpen(state)
  else if (header.kind === 'end') applyEnd(state, header.end as number)
  else if (header.kind === 'cutoff') state.cutoffMs = Number(header.cutoffMs)
  else if (header.kind === 'indexed') state.provenTo = Number(header.to)
  else if (header.kind === 'reopen') applyReopened(state, header as unknown as ReopenedBlocks)
  else if (header.kind === 'limit') applyLimit(state, header as unknown as CoverageLimit)
  else if (header.kind === 'drop') applyDropped(state, header as unknown as DroppedPages)
  else if (header.kind === 'hashes') applyHashes(state, header as unknown as BlockRange, location)
  else if (header.kind === 'done') applyDone(state, header as unknown as WrittenRange)
  else if (header.kind === 'next') applyNext(state, header as unknown as NextRun)
  else if (!replayFeeRecord(state.fees, header) && !replayBlockRecord(blockTarget(state), header, location))
    applyPage(state, header as unknown as PageFields, location)
  return true
}

const blockTarget = (state: CheckpointState) => ({
  blocks: state.blocks,
  listing: () => listingOf(state, BLOCKS),
})

/** Starts after a range that earlier runs exported: only later blocks are requested. */
export function applyBase(state: CheckpointState, before: EarlierExport | undefined): void {
  if (before === undefined) return
  const { indexedTo = {}, ...written } = before
  state.base = before.to
  state.from = before.to
  state.lagging = indexedTo
  state.written = [written]
}

/** Ends the run: the files of these blocks are published. */
export function applyDone(state: CheckpointState, done: WrittenRange): void {
  const { from, to, seen, lastMs, decimals, decimalsConflict } = done
  state.isDone = true
  state.isFresh = false
  const counts = sumUnknownsIfPresent([done])
  const written = { from, to, seen, ...counts, lastMs, decimals, decimalsConflict }
  if (from < to) state.written = [...state.written.filter((range) => range.to <= from), written]
  dropUnusedHashes(state)
}

/** Resumes the run in a new process. */
export function applyOpen(state: CheckpointState): void {
  state.session += 1
  dropUnusedHashes(state)
}

export type ReopenedBlocks = BlockRange & { wallet: string }

/** Reopens blocks of a listing: the current run reads them again. */
export function applyReopened(state: CheckpointState, { wallet, from, to }: ReopenedBlocks): void {
  reopenBlocks(listingOf(state, wallet), { from, to }, state)
  state.reopened.set(wallet, unionRanges([...(state.reopened.get(wallet) ?? []), { from, to }]))
}

type CoverageLimit = { wallet: string; to: number }

/** Ends the coverage of a listing at a block. */
export function applyLimit(state: CheckpointState, { wallet, to }: CoverageLimit): void {
  const listing = listingOf(state, wallet)
  listing.indexedTo = Math.min(listing.indexedTo, to)
}

export type DroppedPages = DroppedRecord & { wallet: string }

/** Discards pages of a listing that cannot be read. */
export function applyDropped(state: CheckpointState, { wallet, ...dropped }: DroppedPages): void {
  dropRecord(listingOf(state, wallet), dropped, state)
}

/** `cutoffMs` is null if the run has an endBlock. */
export type NextRun = { at: number; cutoffMs: number | null; from: number; lookback?: Lookback }

/**
 * Begins the next run. It reads every listing of the job from block `from` on, or from the lookback before the end of the
 * listing's coverage, replacing the pages of earlier runs there, and the blocks that earlier runs have not read because
 * the wallet was not in the job.
 */
export function applyNext(
  state: CheckpointState,
  { at: begunMs, cutoffMs, from, lookback = NO_LOOKBACK }: NextRun,
): void {
  const run = state.run + 1
  const startBefore = lookbackFinder(state.times, lookback, state.base)
  for (const listing of state.listings.values()) {
    const start = listing.indexedTo <= state.base ? listing.indexedTo : startBefore(listing.indexedTo)
    listing.restart = Math.min(listing.restart, from, start)
  }
  Object.assign(state, {
    run,
    begunMs,
    cutoffMs: cutoffMs ?? Number.POSITIVE_INFINITY,
    from,
    isDone: false,
    provenTo: 0,
    end: undefined,
    session: 1,
    sessionHeads: [],
    reopened: new Map(),
  })
}

export function applyPage(
  state: CheckpointState,
  {
    wallet,
    items,
    bad,
    afterCutoff,
    blocks,
    head,
    indexed = head,
    times = [],
    covered,
    gaps,
    opening,
  }: PageFields,
  location: WholeRecordLocation,
): void {
  const listing = listingOf(state, wallet)
  beginReading(listing, state)
  if (covered.to === NO_END && covered.from < covered.to) {
    listing.head = Math.max(listing.head ?? -1, head ?? state.from)
    listing.headSession = state.session
  }
  const indexedTo = Math.max(indexedAtStart(state), (indexed ?? -1) + 1)
  listing.indexedTo = Math.max(listing.indexedTo, Math.min(covered.to, indexedTo))
  for (const time of times) state.times.push(time)
  state.pages += 1
  completeBlocks(listing, covered, gaps)
  if (covered.from === 0 && covered.to > 0) listing.opening = opening
  state.blocks.partial.delete(covered.from)
  if (head !== null) state.head = Math.max(state.head ?? head, head)
  state.sessionHeads[state.session] = state.head
  const counts = { items, bad, ...(afterCutoff === undefined ? {} : { afterCutoff }) }
  if (items > 0) addRecord(listing, { wallet, location, blocks, ...counts })
}

export function listingOf(state: CheckpointState, name: string): ListingState {
  const known = state.listings.get(name)
  if (known !== undefined) return known
  const indexedTo = state.lagging[walletOf(name)] ?? state.base
  const fresh: ListingState = {
    remaining: [{ from: indexedTo, to: state.identity.endBlock ?? NO_END }],
    indexedTo,
    restart: Number.POSITIVE_INFINITY,
    rereadFrom: Number.POSITIVE_INFINITY,
    head: undefined,
    headSession: undefined,
    run: state.run,
    records: [],
    gaps: [],
    opening: undefined,
  }
  state.listings.set(name, fresh)
  return fresh
}

/** One past the last block that runs have written. */
export function writtenEnd({ written, base }: CheckpointState): number {
  return written.at(-1)?.to ?? base
}

/** The service had indexed the blocks before this one when the run began: an earlier run or a request has shown them. */
export const indexedAtStart = (state: CheckpointState): number => Math.max(writtenEnd(state), state.provenTo)

/** One past the highest block of any wallet, but not less than the end of an earlier run. */
export function nextEnd({ from, head, written }: CheckpointState): number {
  return Math.max(from, head === undefined ? 0 : head + 1, written.at(-1)?.to ?? 0)
}

/**
 * Pins the end block. If the head moved between two processes of a run, wallets whose head was read by the
 * earlier process may lack newer transactions: they are read again from their newest block to the end.
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

/**
 * Returns the blocks of a listing that the current run still has to request, within `bounds` and before `endBlock` or, once
 * it is pinned, the end of the run.
 */
export function remainingOf(
  state: CheckpointState,
  listing: string,
  bounds: BlockRange = UNBOUNDED,
): BlockRange[] {
  const to = Math.min(bounds.to, state.identity.endBlock ?? state.end ?? Number.POSITIVE_INFINITY)
  return remainingBlocks(listingOf(state, listing), state, { from: bounds.from, to })
}

/** See `Checkpoint.coveredTo`. */
export function coveredTo(state: CheckpointState, listing: string): number {
  const known = state.listings.get(listing)
  if (known === undefined) return state.base
  if (known.run !== state.run) return Number.POSITIVE_INFINITY
  return remainingOf(state, listing)[0]?.from ?? Number.POSITIVE_INFINITY
}

/** Locations in the log of the transaction fingerprints of written ranges, by `hashesKey`. */
type FingerprintState = { hashes: Map<string, RecordLocation[]>; written: readonly BlockRange[] }

export const hashesKey = ({ from, to }: BlockRange): string => `${from}-${to}`

/** Adds a location of transaction fingerprints of a range. A range can have several. */
export function applyHashes(
  { hashes }: Pick<FingerprintState, 'hashes'>,
  range: BlockRange,
  { offset, bytes }: RecordLocation,
): void {
  hashes.set(hashesKey(range), [...(hashes.get(hashesKey(range)) ?? []), { offset, bytes }])
}

/** Drops fingerprints of ranges that were not published, or that were replaced by a later run. */
function dropUnusedHashes({ hashes, written }: FingerprintState): void {
  const retained = new Set(written.map(hashesKey))
  for (const key of hashes.keys()) if (!retained.has(key)) hashes.delete(key)
}
