import { ExportError } from '../core/errors.ts'
import { BLOCKS } from '../core/listings.ts'
import { type BlockRange, NO_END } from '../core/model.ts'
import { sumIfCounted, type Unknowns } from '../core/unknowns.ts'
import { type BlockState, replayBlocks } from './blocks.ts'
import { isFrameHead } from './frame-head.ts'
import { addFrame, beginReading, type ListingState, settleBlocks } from './listing.ts'
import type { WholePlace } from './log.ts'

/** What pages in a spool have in common; a spool of another identity cannot be continued. */
export type SpoolIdentity = {
  /** Absent: pages of wallets. */
  kind?: 'blocks'
  chain: string
  startBlock: number
  /** null: up to the head. */
  endBlock: number | null
  finalityMs: number
}

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
    isDone: false,
    found: undefined,
    blocks: { missing: [], begun: new Map() },
  }
}

export type PageFields = {
  wallet: string
  items: number
  bad: number
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
  } else if (head.kind === 'open') state.session += 1
  else if (head.kind === 'end') noteEnd(state, head.end as number)
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
}

export type NextRun = { at: number; cutMs: number; from: number }

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
    cutMs,
    from,
    isDone: false,
    end: undefined,
    session: 1,
    sessionHeads: [],
  })
}

/** True where the spool belongs to another job and holds nothing of it: no page, no block, no end of a run. */
export function isUnbound(state: SpoolState): boolean {
  const { pages, written, blocks } = state
  const isEmpty =
    pages === 0 && written.length === 0 && blocks.missing.length === 0 && blocks.begun.size === 0
  return isEmpty && !state.isDone && differingKeys(state).length > 0
}

/** Throws OUTPUT_CHANGED where a spool's pages are of another job. Between two runs `finality` may change. */
export function requireSameIdentity(state: SpoolState): void {
  const { found, identity, isDone } = state
  const differing = differingKeys(state)
  if (found === undefined || differing.length === 0) return
  const changes = differing.map((key) => `${key} was ${inWords(key, found)} and is ${inWords(key, identity)}`)
  throw new ExportError(
    'OUTPUT_CHANGED',
    `the output holds ${isDone ? 'an export' : 'an unfinished run'} of another job: ${changes.join(', ')}`,
    isDone ? { fix: 'Name another --output, or export anew with --fresh.' } : {},
  )
}

function differingKeys({ found, identity, isDone }: SpoolState): (keyof SpoolIdentity)[] {
  if (found === undefined) return []
  return IDENTITY_KEYS.filter((key) => found[key] !== identity[key] && !(isDone && key === 'finalityMs'))
}

const IDENTITY_KEYS = ['kind', 'chain', 'startBlock', 'endBlock', 'finalityMs'] as const

function inWords(key: keyof SpoolIdentity, identity: SpoolIdentity): number | string {
  return identity[key] ?? (key === 'kind' ? 'wallets' : 'the head')
}

export function notePage(
  state: SpoolState,
  { wallet, items, bad, blocks, head, covered }: PageFields,
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
  if (items > 0) addFrame(at, { wallet, place, blocks, items, bad })
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
