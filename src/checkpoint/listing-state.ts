import { subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import { BLOCKS, UNBOUNDED } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { smallest } from '../core/platform/extremes.ts'
import { coalesce } from './coalesced-records.ts'
import type { WholeRecordLocation } from './record-log.ts'

/** One page on disk, or a stretch of blocks. */
export type PageRecord = {
  wallet: string
  location: WholeRecordLocation
  /** Lowest and highest block of its items; null where no item has one. */
  blocks: { min: number; max: number } | null
  items: number
  /** Items that have no place in the chain. */
  bad: number
  /** Items that may be younger than the cut of the run that read it. @default 0 */
  young?: number
  /** Items from this block on were read again since. */
  validBefore: number
  /** The same as of the run before; absent where the page came in the present run. */
  previouslyValidBefore?: number
  /** Number of the run that received it. */
  run: number
  /** Blocks that were read again since, by themselves. @default none */
  rereadRanges?: readonly BlockRange[]
}

/** What a spool knows of one listing. */
export type ListingState = {
  /** Blocks that no page has settled, as of the run that last read the listing. */
  remaining: BlockRange[]
  /** The highest block that run saw of it, and the process of that run that read its newest blocks. */
  head: number | undefined
  headSession: number | undefined
  /** The run that last read it. */
  run: number
  /** In the order of receipt. */
  records: PageRecord[]
}

/** The runs of a spool: the number of the present one, and of each the block from which on it reads listings again. */
export type Runs = { run: number; startBlocks: readonly number[] }

/**
 * Blocks that the present run still has to ask of a listing, of those in which it counts. What it has not read of the
 * listing yet is to be asked from where the first run began that has not read it.
 */
export function remainingBlocks(
  listing: ListingState,
  runs: Runs,
  bounds: BlockRange = UNBOUNDED,
): BlockRange[] {
  const open =
    listing.run === runs.run
      ? listing.remaining
      : unionRanges([...listing.remaining, { from: startSince(listing, runs), to: NO_END }])
  return open
    .map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }))
    .filter(({ from, to }) => from < to)
}

/** The first block that a run has read of other listings since this one was read. */
function startSince(listing: ListingState, { startBlocks }: Runs): number {
  return smallest(startBlocks.slice(listing.run + 1))
}

/**
 * Lets the present run read a listing: where it reads it again, pages of earlier runs count no more. Nothing changes for
 * a listing that it has begun to read, nor for one that it never reads: a wallet that left the job keeps its pages.
 */
export function beginReading(listing: ListingState, runs: Runs): void {
  if (listing.run === runs.run) return
  const from = startSince(listing, runs)
  listing.remaining = remainingBlocks(listing, runs)
  listing.head = undefined
  listing.headSession = undefined
  listing.run = runs.run
  for (const record of listing.records) {
    record.previouslyValidBefore = record.validBefore
    record.validBefore = Math.min(record.validBefore, from)
  }
}

/** Pages of earlier runs, as far as they counted before the present run, and pages of the present one. */
export type RereadPages = { before: readonly PageRecord[]; after: readonly PageRecord[] }

/** What the present run has read of a listing beside what earlier ones had; nothing where it has not read it. */
export function rereadPagesOf({ run, records }: ListingState, runs: Runs): RereadPages {
  if (run !== runs.run) return { before: [], after: [] }
  return {
    before: records.flatMap((record) =>
      record.previouslyValidBefore === undefined
        ? []
        : [{ ...record, validBefore: record.previouslyValidBefore }],
    ),
    after: records.filter(({ previouslyValidBefore }) => previouslyValidBefore === undefined),
  }
}

export function addRecord({ records, run }: ListingState, record: AddedRecord): void {
  const added = { ...record, run, validBefore: Number.POSITIVE_INFINITY }
  if (record.wallet === BLOCKS) coalesce(records, added)
  else records.push(added)
}

type AddedRecord = Omit<PageRecord, 'validBefore' | 'run'>

/** Takes note that a page has settled these blocks. */
export function completeBlocks(listing: ListingState, covered: BlockRange): void {
  listing.remaining = subtractRange(listing.remaining, covered)
}

/** Has the present run read blocks of a listing again: what earlier pages show of them no longer counts. */
export function reopenBlocks(listing: ListingState, range: BlockRange, runs: Runs): void {
  beginReading(listing, runs)
  listing.remaining = unionRanges([...listing.remaining, range])
  for (const record of listing.records) {
    const { blocks, rereadRanges = [] } = record
    if (blocks !== null && blocks.max >= range.from && blocks.min < range.to)
      record.rereadRanges = unionRanges([...rereadRanges, range])
  }
}

/**
 * Drops a frame that cannot be read: what its pages showed is left to be requested again, as far as they still count. The
 * frame stays without items, so that no stretch of blocks grows over it.
 */
export function dropRecord(listing: ListingState, { offset, shown }: DroppedRecord, runs: Runs): void {
  beginReading(listing, runs)
  const index = listing.records.findIndex(({ location }) => location.offset === offset)
  const record = listing.records[index]
  if (record === undefined) return
  const reopened = shown.map(({ from, to }) => ({ from, to: Math.min(to, record.validBefore) }))
  listing.remaining = unionRanges([...listing.remaining, ...reopened.filter(({ from, to }) => from < to)])
  listing.records[index] = { ...record, blocks: null, items: 0, bad: 0, young: 0 }
}

/** A frame by where its body lies, and the blocks that its pages cover or hold items of. */
export type DroppedRecord = { offset: number; shown: readonly BlockRange[] }

/** The frames as far as the listing counts. */
export function countedRecords({ records }: ListingState, { to }: BlockRange): readonly PageRecord[] {
  if (to === Number.POSITIVE_INFINITY) return records
  return records.map((record) => ({ ...record, validBefore: Math.min(record.validBefore, to) }))
}
