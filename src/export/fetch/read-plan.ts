import type { BlockRange } from '../../core/model/model.ts'
import { PAGE_SIZE } from '../../sources/data-api/operations/call.ts'
import {
  estimateItems,
  isRead,
  type ObservedPage,
  observePage,
  type RangeReader,
  seedEstimate,
  splitPoint,
  type UnreadRange,
} from './unread-range.ts'

/** Blocks of one wallet that nobody has read; `desc` reads the newest first. */
export type Range = { address: string; range: BlockRange; order: 'asc' | 'desc' }

/** What one reader is to read. */
export type Assignment = Range & {
  /**
   * Takes note of a page and of what is left of the asked range after it; answers with what this reader still has to
   * read: less where others took some, undefined where nothing is left.
   */
  recordPage(rest: BlockRange, page: ObservedPage): BlockRange | undefined
  /** The reader is done with it. */
  finish(): void
}

/**
 * Shares the blocks of all wallets out among readers while they read. Pieces go first, each to one reader. Then an idle
 * reader joins the span with the most estimated work a reader: at its free end, so that two readers meet in the
 * middle, or, where both ends are taken, at a cut that halves the work. Only what pays is shared: a cut costs half a
 * request on average, for each span ends in a page that is not full; a meeting less.
 */
export type ReadPlan = {
  /** undefined: nothing that is worth it, for now. */
  assign(): Assignment | undefined
  /** True where all is read or being read, and nothing can come any more. */
  isComplete(): boolean
}

/** Pages that must be left in a span so that a second reader, or a cut, is worth it. */
const MIN_PAGES_TO_JOIN = 2
const MIN_PAGES_TO_SPLIT = 4
/** The same where nobody has seen the other end yet: most of the blocks may be empty, and the request for nothing. */
const MIN_PAGES_TO_PROBE = 20
/** So many pages in all are too few to share: one request more would be felt. */
const MIN_PAGES_TO_SHARE = 100
/** Requests that sharing may cost, as a share of the pages that are left and of those beyond the first ones. */
const MAX_EXTRA_SHARE = 0.05
const FREE_PAGES = 200
/** What a cut and a meeting cost, in requests, on average. */
const SPLIT_COST = 0.45
const MEETING_COST = 0.05

type State = {
  queue: Iterator<Range>
  isQueueEmpty: boolean
  unreadRanges: Set<UnreadRange>
  pages: number
  sharingCost: number
}

export function createReadPlan(ranges: Iterable<Range>): ReadPlan {
  const state: State = {
    queue: ranges[Symbol.iterator](),
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

/** Puts a new reader to the span's low end (`asc`) or high end (`desc`). */
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
      const shown =
        order === 'asc' ? { from: assigned.from, to: rest.from } : { from: rest.to, to: assigned.to }
      return recordProgress(state, { reader, order, shown }, page)
    },
    finish: () => finishReader(state, { reader, order, shown: assigned }),
  }
}

/** `shown`: blocks whose items this reader has seen, from where it began. */
type Progress = { reader: RangeReader; order: 'asc' | 'desc'; shown: BlockRange }

function recordProgress(state: State, progress: Progress, page: ObservedPage): BlockRange | undefined {
  const { reader, order } = progress
  state.pages += 1
  observePage(reader, page)
  if (reader.isSecond) reader.unread.isBounded = true
  markShown(state, progress)
  const { unread } = reader
  if (isRead(unread)) return undefined
  const other = order === 'asc' ? unread.high : unread.low
  if (other === undefined || (estimateItems(unread) ?? 0) > PAGE_SIZE)
    return { from: unread.from, to: unread.to }
  // The page that the other has asked for is about to show the rest: to ask for it too would be for nothing.
  reader.isHandedOver = true
  detachReader(unread, order)
  return undefined
}

/** Takes out of every span of the wallet what a page has shown: over empty blocks it may reach into the next one. */
function markShown(state: State, { reader, shown }: Progress): void {
  for (const unread of state.unreadRanges) {
    if (unread.address !== reader.unread.address) continue
    if (shown.from <= unread.from) unread.from = Math.max(unread.from, Math.min(unread.to, shown.to))
    if (shown.to >= unread.to) unread.to = Math.min(unread.to, Math.max(unread.from, shown.from))
    if (isRead(unread)) state.unreadRanges.delete(unread)
  }
}

function detachReader(unread: UnreadRange, order: 'asc' | 'desc'): void {
  if (order === 'asc') unread.low = undefined
  else unread.high = undefined
}

/** Who stops without having handed over has met the other, or seen the end of the asked range. */
function finishReader(state: State, progress: Progress): void {
  const { reader, order } = progress
  if (reader.isHandedOver) return
  detachReader(reader.unread, order)
  if (!isRead(reader.unread)) markShown(state, progress)
}

function assignShared(state: State): Assignment | undefined {
  let [best, maxPagesPerReader, remainingPages] = [undefined as UnreadRange | undefined, 0, 0]
  for (const unread of state.unreadRanges) {
    const pages = (estimateItems(unread) ?? 0) / PAGE_SIZE
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

/** Cuts a span in two; gives the upper one, whose low end is free. */
function splitRange(state: State, unread: UnreadRange): UnreadRange {
  const middle = splitPoint(unread)
  const upper: UnreadRange = { ...unread, from: middle, low: undefined }
  if (upper.high !== undefined) upper.high.unread = upper
  unread.high = undefined
  unread.to = middle
  state.unreadRanges.add(upper)
  return upper
}
