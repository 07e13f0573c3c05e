import { subtractRange, uniteRanges } from '../core/model/block-ranges.ts'
import { BLOCKS, EVERYWHERE } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { smallest } from '../core/platform/extremes.ts'
import { addToStretch } from './coalesced-records.ts'
import type { WholePlace } from './record-log.ts'

/** One page on disk, or a stretch of blocks. */
export type Frame = {
  wallet: string
  place: WholePlace
  /** Lowest and highest block of its items; null where no item has one. */
  blocks: { min: number; max: number } | null
  items: number
  /** Items that have no place in the chain. */
  bad: number
  /** Items that may be younger than the cut of the run that read it. @default 0 */
  young?: number
  /** Items from this block on were read again since. */
  until: number
  /** The same as of the run before; absent where the page came in the present run. */
  untilThen?: number
  /** Number of the run that received it. */
  run: number
  /** Blocks that were read again since, by themselves. @default none */
  replaced?: readonly BlockRange[]
}

/** What a spool knows of one listing. */
export type ListingState = {
  /** Blocks that no page has settled, as of the run that last read the listing. */
  remaining: BlockRange[]
  /** The highest block that run saw of it, and the process of that run that read its newest blocks. */
  head: number | undefined
  topSession: number | undefined
  /** The run that last read it. */
  run: number
  /** In the order of receipt. */
  frames: Frame[]
}

/** The runs of a spool: the number of the present one, and of each the block from which on it reads listings again. */
export type Runs = { run: number; froms: readonly number[] }

/**
 * Blocks that the present run still has to ask of a listing, of those in which it counts. What it has not read of the
 * listing yet is to be asked from where the first run began that has not read it.
 */
export function openBlocks(at: ListingState, runs: Runs, counted: BlockRange = EVERYWHERE): BlockRange[] {
  const open =
    at.run === runs.run
      ? at.remaining
      : uniteRanges([...at.remaining, { from: fromSince(at, runs), to: NO_END }])
  return open
    .map(({ from, to }) => ({ from: Math.max(from, counted.from), to: Math.min(to, counted.to) }))
    .filter(({ from, to }) => from < to)
}

/** The first block that a run has read of other listings since this one was read. */
function fromSince(at: ListingState, { froms }: Runs): number {
  return smallest(froms.slice(at.run + 1))
}

/**
 * Lets the present run read a listing: where it reads it again, pages of earlier runs count no more. Nothing changes for
 * a listing that it has begun to read, nor for one that it never reads: a wallet that left the job keeps its pages.
 */
export function beginReading(at: ListingState, runs: Runs): void {
  if (at.run === runs.run) return
  const from = fromSince(at, runs)
  at.remaining = openBlocks(at, runs)
  at.head = undefined
  at.topSession = undefined
  at.run = runs.run
  for (const frame of at.frames) {
    frame.untilThen = frame.until
    frame.until = Math.min(frame.until, from)
  }
}

/** Pages of earlier runs, as far as they counted before the present run, and pages of the present one. */
export type ReadAgain = { before: readonly Frame[]; after: readonly Frame[] }

/** What the present run has read of a listing beside what earlier ones had; nothing where it has not read it. */
export function readAgainOf({ run, frames }: ListingState, runs: Runs): ReadAgain {
  if (run !== runs.run) return { before: [], after: [] }
  return {
    before: frames.flatMap((frame) =>
      frame.untilThen === undefined ? [] : [{ ...frame, until: frame.untilThen }],
    ),
    after: frames.filter(({ untilThen }) => untilThen === undefined),
  }
}

export function addFrame({ frames, run }: ListingState, frame: AddedFrame): void {
  const added = { ...frame, run, until: Number.POSITIVE_INFINITY }
  if (frame.wallet === BLOCKS) addToStretch(frames, added)
  else frames.push(added)
}

type AddedFrame = Omit<Frame, 'until' | 'run'>

/** Takes note that a page has settled these blocks. */
export function settleBlocks(at: ListingState, covered: BlockRange): void {
  at.remaining = subtractRange(at.remaining, covered)
}

/** Has the present run read blocks of a listing again: what earlier pages show of them no longer counts. */
export function reopenBlocks(at: ListingState, range: BlockRange, runs: Runs): void {
  beginReading(at, runs)
  at.remaining = uniteRanges([...at.remaining, range])
  for (const frame of at.frames) {
    const { blocks, replaced = [] } = frame
    if (blocks !== null && blocks.max >= range.from && blocks.min < range.to)
      frame.replaced = uniteRanges([...replaced, range])
  }
}

/**
 * Drops a frame that cannot be read: what its pages showed is left to be requested again, as far as they still count. The
 * frame stays without items, so that no stretch of blocks grows over it.
 */
export function dropFrame(at: ListingState, { offset, shown }: DroppedFrame, runs: Runs): void {
  beginReading(at, runs)
  const found = at.frames.findIndex(({ place }) => place.offset === offset)
  const frame = at.frames[found]
  if (frame === undefined) return
  const open = shown.map(({ from, to }) => ({ from, to: Math.min(to, frame.until) }))
  at.remaining = uniteRanges([...at.remaining, ...open.filter(({ from, to }) => from < to)])
  at.frames[found] = { ...frame, blocks: null, items: 0, bad: 0, young: 0 }
}

/** A frame by where its body lies, and the blocks that its pages cover or hold items of. */
export type DroppedFrame = { offset: number; shown: readonly BlockRange[] }

/** The frames as far as the listing counts. */
export function countedFrames({ frames }: ListingState, { to }: BlockRange): readonly Frame[] {
  if (to === Number.POSITIVE_INFINITY) return frames
  return frames.map((frame) => ({ ...frame, until: Math.min(frame.until, to) }))
}
