import { subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import { type Gap, gapsOutside } from '../core/model/gaps.ts'
import { BLOCKS, UNBOUNDED } from '../core/model/listings.ts'
import { type BlockRange, NO_END } from '../core/model/model.ts'
import { diskError } from '../core/platform/disk.ts'
import { parseHeader } from './record-header.ts'
import type { WholeRecordLocation } from './record-log.ts'

/** One page in the log, or several coalesced block pages. */
export type PageRecord = {
  wallet: string
  location: WholeRecordLocation
  /** Lowest and highest block of its items; null if no item has one. */
  blocks: { min: number; max: number } | null
  items: number
  /** Number of items without a valid chain position. */
  bad: number
  /** Number of items that may be newer than the cutoff of the run that read the page. @default 0 */
  afterCutoff?: number
  /** Items from this block on are superseded, because a later run has read or will read them again. */
  validBefore: number
  /** `validBefore` before the current run; absent if the current run received the page. */
  previouslyValidBefore?: number
  /** Number of the run that received it. */
  run: number
  /** Further blocks whose items are superseded, because they were read again individually. @default none */
  rereadRanges?: readonly BlockRange[]
}

/** State of one listing in a checkpoint. */
export type ListingState = {
  /** Blocks that no page covers, as of the run that last read the listing. */
  remaining: BlockRange[]
  /**
   * The service had indexed the blocks before this one when it answered for the newest blocks of the listing: the claim
   * of its coverage. Decreases only if a transaction has vanished.
   */
  indexedTo: number
  /** Block from which the runs that follow the last one that read the listing read it again; Infinity for none. */
  restart: number
  /** Block from which that run read it again, instead of continuing an earlier one. */
  rereadFrom: number
  /** The highest block of the listing in that run, and the process (session) that read its newest blocks. */
  head: number | undefined
  headSession: number | undefined
  /** The run that last read it. */
  run: number
  /** In the order in which they were received. */
  records: PageRecord[]
  /** Blocks that pages cover although the service could not list all of their items. */
  gaps: readonly Gap[]
  /** Coins that the wallet held before its first transaction, as the page of block 0 states them. */
  opening: string | undefined
}

/** The number of the current run. */
export type Runs = { run: number }

/**
 * Returns the blocks of a listing that the current run still has to request, within `bounds`. If the current
 * run has not begun to read the listing, these include all blocks from its restart on.
 */
export function remainingBlocks(
  listing: ListingState,
  runs: Runs,
  bounds: BlockRange = UNBOUNDED,
): BlockRange[] {
  const open =
    listing.run === runs.run
      ? listing.remaining
      : unionRanges([...listing.remaining, { from: listing.restart, to: NO_END }])
  return open
    .map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }))
    .filter(({ from, to }) => from < to)
}

/**
 * Marks a listing as read by the current run. Items of earlier runs are superseded from the block on at which
 * the run reads again. Does nothing if the run has already begun to read the listing. It is not called for
 * wallets that were removed from the job, so their pages stay valid.
 */
export function beginReading(listing: ListingState, runs: Runs): void {
  if (listing.run === runs.run) return
  const from = listing.restart
  listing.remaining = remainingBlocks(listing, runs)
  Object.assign(listing, { rereadFrom: from, restart: Number.POSITIVE_INFINITY })
  listing.head = undefined
  listing.headSession = undefined
  listing.run = runs.run
  for (const record of listing.records) {
    record.previouslyValidBefore = record.validBefore
    record.validBefore = Math.min(record.validBefore, from)
  }
}

/**
 * Pages of earlier runs with their validity before the current run (`before`), pages of the current run (`after`), and
 * the first block that both may contain.
 */
export type RereadPages = { from: number; before: readonly PageRecord[]; after: readonly PageRecord[] }

/**
 * Returns the pages of a listing before and after the current run; none if the run has not read the listing.
 */
export function rereadPagesOf({ run, records, rereadFrom }: ListingState, runs: Runs): RereadPages {
  if (run !== runs.run) return { from: rereadFrom, before: [], after: [] }
  return {
    from: rereadFrom,
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

/** Removes blocks that a page covers from the remaining blocks. The gaps of the page replace earlier ones. */
export function completeBlocks(listing: ListingState, covered: BlockRange, gaps: readonly Gap[] = []): void {
  listing.remaining = subtractRange(listing.remaining, covered)
  if (listing.gaps.length + gaps.length > 0) listing.gaps = [...gapsOutside(listing.gaps, covered), ...gaps]
}

/**
 * Adds blocks of a listing to the remaining blocks of the current run. Items of these blocks in existing
 * pages are superseded.
 */
export function reopenBlocks(listing: ListingState, range: BlockRange, runs: Runs): void {
  beginReading(listing, runs)
  listing.remaining = unionRanges([...listing.remaining, range])
  listing.gaps = gapsOutside(listing.gaps, range)
  for (const record of listing.records) {
    const { blocks, rereadRanges = [] } = record
    if (blocks !== null && blocks.max >= range.from && blocks.min < range.to)
      record.rereadRanges = unionRanges([...rereadRanges, range])
  }
}

/**
 * Drops a record that cannot be read and adds its blocks to the remaining blocks, unless they are superseded
 * anyway. The record stays in the list without items, so that no later block page is coalesced across it.
 */
export function dropRecord(listing: ListingState, { offset, ranges }: DroppedRecord, runs: Runs): void {
  beginReading(listing, runs)
  const index = listing.records.findIndex(({ location }) => location.offset === offset)
  const record = listing.records[index]
  if (record === undefined) return
  const reopened = ranges.map(({ from, to }) => ({ from, to: Math.min(to, record.validBefore) }))
  listing.remaining = unionRanges([...listing.remaining, ...reopened.filter(({ from, to }) => from < to)])
  listing.records[index] = { ...record, blocks: null, items: 0, bad: 0, afterCutoff: 0 }
}

/** A dropped record: the offset of its body, and the blocks that its pages cover or contain items of. */
export type DroppedRecord = { offset: number; ranges: readonly BlockRange[] }

/** Returns the records of a listing with their validity limited to the end of the listing. */
export function countedRecords({ records }: ListingState, { to }: BlockRange): readonly PageRecord[] {
  if (to === Number.POSITIVE_INFINITY) return records
  return records.map((record) => ({ ...record, validBefore: Math.min(record.validBefore, to) }))
}

/** A range of the log that contains one or more block pages. */
type CoalescedRecords = {
  location: WholeRecordLocation
  blocks: { min: number; max: number } | null
  items: number
  bad: number
}

/**
 * Adds a block page to the records. Block pages are many and small, so pages that are consecutive in the log
 * and close to each other in the chain are coalesced into one range of the log, including their headers. A
 * million of them then need far fewer than a million entries in memory.
 */
function coalesce<T extends CoalescedRecords>(records: T[], block: T): void {
  const last = records.at(-1)
  const extended = last === undefined ? undefined : extend(last, block)
  if (extended !== undefined) records[records.length - 1] = extended
  else records.push({ ...block, location: locationFrom(block.location.start, block.location) })
}

/** Maximum size of coalesced records in bytes, because they are read into memory together. */
const COALESCED_BYTES = 256 * 1024
/**
 * Maximum distance of coalesced blocks. A merge holds all of them in memory until it reaches the last one.
 */
const COALESCED_BLOCKS = 1_000

/** Returns `last` extended by a block page; undefined if the two must not be coalesced. */
function extend<T extends CoalescedRecords>(last: T, block: T): T | undefined {
  if (last.blocks === null || block.blocks === null) return undefined
  const min = Math.min(last.blocks.min, block.blocks.min)
  const max = Math.max(last.blocks.max, block.blocks.max)
  const location = locationFrom(last.location.start, block.location)
  if (location.bytes > COALESCED_BYTES || max - min > COALESCED_BLOCKS) return undefined
  const counts = { items: last.items + block.items, bad: last.bad + block.bad }
  return { ...last, ...counts, location, blocks: { min, max } }
}

type PageHeaderFields = { covered: BlockRange; blocks: CoalescedRecords['blocks'] }

function blocksOfPage({ covered: { from, to }, blocks }: PageHeaderFields): BlockRange {
  return blocks === null
    ? { from, to }
    : { from: Math.min(from, blocks.min), to: Math.max(to, blocks.max + 1) }
}

function locationFrom(start: number, { offset, bytes }: WholeRecordLocation): WholeRecordLocation {
  return { start, offset: start, bytes: offset + bytes - start }
}

/**
 * Returns the blocks that pages cover or contain items of, according to their headers. A page can contain
 * items of a block that only the next page covers, if the page ends within the block.
 *
 * @param pages bytes of the log, beginning with a record header
 */
export function blocksOfPages(pages: Buffer): BlockRange[] {
  const blocks: BlockRange[] = []
  for (let offset = 0; offset < pages.length; ) {
    const header = parseHeader(pages.subarray(offset))
    if (header === undefined) break
    if (header.fields.kind === 'page') blocks.push(blocksOfPage(header.fields as PageHeaderFields))
    offset += header.length + header.bytes + 1
  }
  return blocks
}

/** Returns the bodies of coalesced records as one JSON list. Throws OUTPUT_FAILED if a record is damaged. */
export function joinBodies(records: Buffer): Buffer {
  const bodies: Buffer[] = []
  for (let offset = 0; offset < records.length; ) {
    const header = parseHeader(records.subarray(offset))
    if (header === undefined)
      throw diskError('cannot read the checkpoint', new Error('a page in it is damaged'))
    const from = offset + header.length
    if (header.fields.kind === 'page' && header.bytes > 0)
      bodies.push(COMMA, records.subarray(from, from + header.bytes))
    offset = from + header.bytes + 1
  }
  return Buffer.concat([OPEN, ...bodies.slice(1), CLOSE])
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')] as const
