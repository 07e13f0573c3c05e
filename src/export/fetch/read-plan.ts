import { isAtomicListing } from '../../core/model/listings.ts'
import type { BlockRange } from '../../core/model/model.ts'
import type { Source } from '../../sources/source.ts'

/** Unread blocks of one listing; `address` is its name. `desc` reads the newest first. */
export type Range = { address: string; range: BlockRange; order: 'asc' | 'desc' }

/** The blocks that one reader is to read. */
export type Assignment = Range & {
  /**
   * Must be called after each page, with the rest of the requested range. Returns what this reader still has
   * to read, which is less than `rest` if other readers took a part, and undefined if nothing is left.
   */
  recordPage(rest: BlockRange, page: ObservedPage): BlockRange | undefined
  /** Must be called when the reader stops. */
  finish(): void
}

/**
 * Distributes the blocks of all wallets among readers while they read. Each range first goes to one reader.
 * When no range is left, an idle reader joins the unread range with the most estimated work per reader: at
 * its free end, so that two readers meet in the middle, or, if both ends are taken, at a split that halves
 * the work. A range is shared only if that pays off. A split costs about half a request, because each range
 * ends in a page that is not full; a meeting costs less.
 */
export type ReadPlan = {
  /** Returns undefined if no assignment is worthwhile at the moment. */
  assign(): Assignment | undefined
  /** Whether all blocks are read, so that no further assignment can follow. */
  isComplete(): boolean
}

/** Minimum number of remaining pages in a range for a second reader to join it, and for a split. */
const MIN_PAGES_TO_JOIN = 2
const MIN_PAGES_TO_SPLIT = 4
/** The same if only one end has been read: most of the blocks may be empty, and the request in vain. */
const MIN_PAGES_TO_PROBE = 20
/**
 * With at most this many pages in total, ranges are not shared, because an extra request would be noticeable.
 */
const MIN_PAGES_TO_SHARE = 100
/**
 * Maximum cost of sharing, as a fraction of the remaining pages plus the read pages beyond the first
 * `FREE_PAGES`.
 */
const MAX_EXTRA_SHARE = 0.05
const FREE_PAGES = 200
/** Average cost of a split and of a meeting, in requests. */
const SPLIT_COST = 0.45
const MEETING_COST = 0.05

type State = {
  queue: Iterator<Range>
  pageSize: number
  isQueueEmpty: boolean
  unreadRanges: Set<UnreadRange>
  pages: number
  sharingCost: number
}

export function createReadPlan(ranges: Iterable<Range>, { pageSize }: Pick<Source, 'pageSize'>): ReadPlan {
  const state: State = {
    queue: ranges[Symbol.iterator](),
    pageSize,
    isQueueEmpty: false,
    unreadRanges: new Set(),
    pages: 0,
    sharingCost: 0,
  }
  return {
    assign: () => takeRange(state) ?? assignShared(state),
    isComplete: () => state.isQueueEmpty && state.unreadRanges.size === 0,
  }
}

function takeRange(state: State): Assignment | undefined {
  const next = state.isQueueEmpty ? { done: true as const } : state.queue.next()
  if (next.done) {
    state.isQueueEmpty = true
    return undefined
  }
  const { address, range, order } = next.value
  const unread: UnreadRange = {
    address,
    from: range.from,
    to: range.to,
    low: undefined,
    high: undefined,
    isBounded: false,
  }
  state.unreadRanges.add(unread)
  return attachReader(state, unread, order)
}

/** Attaches a new reader to the low end (`asc`) or the high end (`desc`) of an unread range. */
function attachReader(state: State, unread: UnreadRange, order: 'asc' | 'desc'): Assignment {
  const reader: RangeReader = {
    unread,
    observed: seedEstimate(unread),
    isSecond: unread.low !== undefined || unread.high !== undefined,
    isHandedOver: false,
  }
  if (order === 'asc') unread.low = reader
  else unread.high = reader
  const assigned = { from: unread.from, to: unread.to }
  return {
    address: unread.address,
    range: assigned,
    order,
    recordPage: (rest, page) => {
      const received =
        order === 'asc' ? { from: assigned.from, to: rest.from } : { from: rest.to, to: assigned.to }
      return recordProgress(state, { reader, order, received }, page)
    },
    finish: () => finishReader(state, { reader, order, received: assigned }),
  }
}

/** `received`: blocks whose items this reader has received so far, from the start of its assignment. */
type Progress = { reader: RangeReader; order: 'asc' | 'desc'; received: BlockRange }

function recordProgress(state: State, progress: Progress, page: ObservedPage): BlockRange | undefined {
  const { reader, order } = progress
  state.pages += 1
  observePage(reader, page)
  if (reader.isSecond) reader.unread.isBounded = true
  markReceived(state, progress)
  const { unread } = reader
  if (isRead(unread)) return undefined
  const other = order === 'asc' ? unread.high : unread.low
  if (other === undefined || (estimateItems(unread) ?? 0) > state.pageSize)
    return { from: unread.from, to: unread.to }
  // The page that the other reader has requested will contain the rest, so requesting it here would be
  // redundant.
  reader.isHandedOver = true
  detachReader(unread, order)
  return undefined
}

/**
 * Removes received blocks from all unread ranges of the wallet. Across empty blocks a page can reach into the
 * next range.
 */
function markReceived(state: State, { reader, received }: Progress): void {
  for (const unread of state.unreadRanges) {
    if (unread.address !== reader.unread.address) continue
    if (received.from <= unread.from) unread.from = Math.max(unread.from, Math.min(unread.to, received.to))
    if (received.to >= unread.to) unread.to = Math.min(unread.to, Math.max(unread.from, received.from))
    if (isRead(unread)) state.unreadRanges.delete(unread)
  }
}

function detachReader(unread: UnreadRange, order: 'asc' | 'desc'): void {
  if (order === 'asc') unread.low = undefined
  else unread.high = undefined
}

/** A reader that stops without handing over has met the other reader or reached the end of its range. */
function finishReader(state: State, progress: Progress): void {
  const { reader, order } = progress
  if (reader.isHandedOver) return
  detachReader(reader.unread, order)
  if (!isRead(reader.unread)) markReceived(state, progress)
}

function assignShared(state: State): Assignment | undefined {
  let [best, maxPagesPerReader, remainingPages] = [undefined as UnreadRange | undefined, 0, 0]
  for (const unread of state.unreadRanges) {
    // A listing that the service cannot divide by blocks has one reader.
    if (isAtomicListing(unread.address)) continue
    const pages = (estimateItems(unread) ?? 0) / state.pageSize
    remainingPages += pages
    const readers = unread.low !== undefined && unread.high !== undefined ? 2 : 1
    if (pages < pagesToShare(unread, readers) || pages / readers <= maxPagesPerReader) continue
    if (unread.to - unread.from < 2) continue
    best = unread
    maxPagesPerReader = pages / readers
  }
  if (best === undefined || state.pages + remainingPages <= MIN_PAGES_TO_SHARE) return undefined
  const isSplit = best.low !== undefined && best.high !== undefined
  const cost = isSplit ? SPLIT_COST : MEETING_COST
  if (state.sharingCost + cost > MAX_EXTRA_SHARE * (Math.max(0, state.pages - FREE_PAGES) + remainingPages))
    return undefined
  state.sharingCost += cost
  if (!isSplit) return attachReader(state, best, best.low === undefined ? 'asc' : 'desc')
  return attachReader(state, splitRange(state, best), 'asc')
}

function pagesToShare({ isBounded }: UnreadRange, readers: 1 | 2): number {
  if (!isBounded) return readers === 1 ? MIN_PAGES_TO_PROBE : Number.POSITIVE_INFINITY
  return readers === 1 ? MIN_PAGES_TO_JOIN : MIN_PAGES_TO_SPLIT
}

/** Splits an unread range in two. Returns the upper one, whose low end has no reader. */
function splitRange(state: State, unread: UnreadRange): UnreadRange {
  const middle = splitPoint(unread)
  const upper: UnreadRange = { ...unread, from: middle, low: undefined }
  if (upper.high !== undefined) upper.high.unread = upper
  unread.high = undefined
  unread.to = middle
  state.unreadRanges.add(upper)
  return upper
}

/** Exponentially decayed sums of the items and blocks of a reader's pages at its end of a range. */
type ObservedDensity = { items: number; blocks: number }

/** Blocks of one wallet that no page has covered yet, read from one end or from both. */
type UnreadRange = {
  readonly address: string
  from: number
  to: number
  /** Reader at the low end, in ascending order, and reader at the high end, in descending order. */
  low: RangeReader | undefined
  high: RangeReader | undefined
  /** Whether pages from both ends have been received. Before that, most of its blocks may be empty. */
  isBounded: boolean
}

type RangeReader = {
  unread: UnreadRange
  observed: ObservedDensity
  /** Whether there was a reader at the other end when this one was attached. */
  isSecond: boolean
  /** Whether it has left the rest to the reader at the other end. */
  isHandedOver: boolean
}

/** The properties of a page that estimates are based on. */
type ObservedPage = { items: number; blocks: { min: number; max: number } | undefined }

/** Factor by which the weight of a page decreases with each later page. */
const DECAY = 0.5

function observePage({ observed }: RangeReader, { items, blocks }: ObservedPage): void {
  if (blocks === undefined) return
  observed.items = observed.items * DECAY + items
  observed.blocks = observed.blocks * DECAY + blocks.max - blocks.min + 1
}

/** Initial estimate of a new reader: the density observed at the other end, with a low weight. */
function seedEstimate({ low, high }: UnreadRange): ObservedDensity {
  const { items, blocks } = (low ?? high)?.observed ?? { items: 0, blocks: 0 }
  return { items: items * PRIOR_WEIGHT, blocks: blocks * PRIOR_WEIGHT }
}

const PRIOR_WEIGHT = 0.1

/**
 * Estimates the number of items in an unread range; undefined if no page of it has been received. Uses the
 * geometric mean of the densities at both ends, because densities can differ by orders of magnitude.
 */
function estimateItems(unread: UnreadRange): number | undefined {
  const densities = densitiesAtEnds(unread)
  if (densities === undefined) return undefined
  return Math.sqrt(densities.low * densities.high) * (unread.to - unread.from)
}

/**
 * Returns the block that halves the estimated work, assuming that each half of the range is as dense as its
 * end.
 */
function splitPoint(unread: UnreadRange): number {
  const { from, to } = unread
  const { low, high } = densitiesAtEnds(unread) ?? { low: 1, high: 1 }
  const half = ((low + high) * (to - from)) / 4
  const middle = low >= high ? from + half / low : to - half / high
  return Math.min(to - 1, Math.max(from + 1, Math.round(middle)))
}

/** Items per block at both ends. An end without a known density is assumed to be like the other. */
function densitiesAtEnds({ low, high }: UnreadRange): { low: number; high: number } | undefined {
  const [atLow, atHigh] = [densityAt(low), densityAt(high)]
  const [lowDensity, highDensity] = [atLow ?? atHigh, atHigh ?? atLow]
  return lowDensity === undefined || highDensity === undefined
    ? undefined
    : { low: lowDensity, high: highDensity }
}

function densityAt(reader: RangeReader | undefined): number | undefined {
  if (reader === undefined || reader.observed.blocks === 0) return undefined
  return reader.observed.items / reader.observed.blocks
}

const isRead = ({ from, to }: BlockRange) => from >= to
