import type { BlockRange } from '../../core/model/model.ts'
import { PAGE_SIZE } from '../../sources/data-api/operations/call.ts'
import {
  estimateItems,
  inherit,
  isRead,
  middleOf,
  notePage,
  type SeenPage,
  type Span,
  type SpanReader,
} from './unread-range.ts'

/** Blocks of one wallet that nobody has read; `desc` reads the newest first. */
export type Piece = { address: string; range: BlockRange; order: 'asc' | 'desc' }

/** What one reader is to read. */
export type Claim = Piece & {
  /**
   * Takes note of a page and of what is left of the asked range after it; answers with what this reader still has to
   * read: less where others took some, undefined where nothing is left.
   */
  advance(rest: BlockRange, page: SeenPage): BlockRange | undefined
  /** The reader is done with it. */
  end(): void
}

/**
 * Shares the blocks of all wallets out among readers while they read. Pieces go first, each to one reader. Then an idle
 * reader joins the span with the most estimated work a reader: at its free end, so that two readers meet in the
 * middle, or, where both ends are taken, at a cut that halves the work. Only what pays is shared: a cut costs half a
 * request on average, for each span ends in a page that is not full; a meeting less.
 */
export type ReadPlan = {
  /** undefined: nothing that is worth it, for now. */
  claim(): Claim | undefined
  /** True where all is read or being read, and nothing can come any more. */
  isOver(): boolean
}

/** Pages that must be left in a span so that a second reader, or a cut, is worth it. */
const PAGES_TO_JOIN = 2
const PAGES_TO_CUT = 4
/** The same where nobody has seen the other end yet: most of the blocks may be empty, and the request for nothing. */
const PAGES_TO_SOUND = 20
/** So many pages in all are too few to share: one request more would be felt. */
const PAGES_ALONE = 100
/** Requests that sharing may cost, as a share of the pages that are left and of those beyond the first ones. */
const EXTRA_SHARE = 0.05
const FIRST_PAGES = 200
/** What a cut and a meeting cost, in requests, on average. */
const CUT_COST = 0.45
const MEETING_COST = 0.05

type State = { queue: Iterator<Piece>; drained: boolean; spans: Set<Span>; pages: number; spent: number }

export function createReadPlan(pieces: Iterable<Piece>): ReadPlan {
  const state: State = {
    queue: pieces[Symbol.iterator](),
    drained: false,
    spans: new Set(),
    pages: 0,
    spent: 0,
  }
  return {
    claim: () => takePiece(state) ?? share(state),
    isOver: () => state.drained && state.spans.size === 0,
  }
}

function takePiece(state: State): Claim | undefined {
  const next = state.drained ? { done: true as const } : state.queue.next()
  if (next.done) {
    state.drained = true
    return undefined
  }
  const { address, range, order } = next.value
  const span: Span = {
    address,
    from: range.from,
    to: range.to,
    low: undefined,
    high: undefined,
    isBounded: false,
  }
  state.spans.add(span)
  return join(state, span, order)
}

/** Puts a new reader to the span's low end (`asc`) or high end (`desc`). */
function join(state: State, span: Span, order: 'asc' | 'desc'): Claim {
  const reader: SpanReader = {
    span,
    seen: inherit(span),
    isSecond: span.low !== undefined || span.high !== undefined,
    handsOver: false,
  }
  if (order === 'asc') span.low = reader
  else span.high = reader
  const asked = { from: span.from, to: span.to }
  return {
    address: span.address,
    range: asked,
    order,
    advance: (rest, page) => {
      const shown = order === 'asc' ? { from: asked.from, to: rest.from } : { from: rest.to, to: asked.to }
      return advance(state, { reader, order, shown }, page)
    },
    end: () => leave(state, { reader, order, shown: asked }),
  }
}

/** `shown`: blocks whose items this reader has seen, from where it began. */
type Progress = { reader: SpanReader; order: 'asc' | 'desc'; shown: BlockRange }

function advance(state: State, progress: Progress, page: SeenPage): BlockRange | undefined {
  const { reader, order } = progress
  state.pages += 1
  notePage(reader, page)
  if (reader.isSecond) reader.span.isBounded = true
  note(state, progress)
  const { span } = reader
  if (isRead(span)) return undefined
  const other = order === 'asc' ? span.high : span.low
  if (other === undefined || (estimateItems(span) ?? 0) > PAGE_SIZE) return { from: span.from, to: span.to }
  // The page that the other has asked for is about to show the rest: to ask for it too would be for nothing.
  reader.handsOver = true
  vacate(span, order)
  return undefined
}

/** Takes out of every span of the wallet what a page has shown: over empty blocks it may reach into the next one. */
function note(state: State, { reader, shown }: Progress): void {
  for (const span of state.spans) {
    if (span.address !== reader.span.address) continue
    if (shown.from <= span.from) span.from = Math.max(span.from, Math.min(span.to, shown.to))
    if (shown.to >= span.to) span.to = Math.min(span.to, Math.max(span.from, shown.from))
    if (isRead(span)) state.spans.delete(span)
  }
}

function vacate(span: Span, order: 'asc' | 'desc'): void {
  if (order === 'asc') span.low = undefined
  else span.high = undefined
}

/** Who stops without having handed over has met the other, or seen the end of the asked range. */
function leave(state: State, progress: Progress): void {
  const { reader, order } = progress
  if (reader.handsOver) return
  vacate(reader.span, order)
  if (!isRead(reader.span)) note(state, progress)
}

function share(state: State): Claim | undefined {
  let [best, most, left] = [undefined as Span | undefined, 0, 0]
  for (const span of state.spans) {
    const pages = (estimateItems(span) ?? 0) / PAGE_SIZE
    left += pages
    const readers = span.low !== undefined && span.high !== undefined ? 2 : 1
    if (pages < pagesToShare(span, readers) || pages / readers <= most) continue
    if (span.to - span.from < 2) continue
    best = span
    most = pages / readers
  }
  if (best === undefined || state.pages + left <= PAGES_ALONE) return undefined
  const isCut = best.low !== undefined && best.high !== undefined
  const cost = isCut ? CUT_COST : MEETING_COST
  if (state.spent + cost > EXTRA_SHARE * (Math.max(0, state.pages - FIRST_PAGES) + left)) return undefined
  state.spent += cost
  if (!isCut) return join(state, best, best.low === undefined ? 'asc' : 'desc')
  return join(state, cut(state, best), 'asc')
}

function pagesToShare({ isBounded }: Span, readers: 1 | 2): number {
  if (!isBounded) return readers === 1 ? PAGES_TO_SOUND : Number.POSITIVE_INFINITY
  return readers === 1 ? PAGES_TO_JOIN : PAGES_TO_CUT
}

/** Cuts a span in two; gives the upper one, whose low end is free. */
function cut(state: State, span: Span): Span {
  const middle = middleOf(span)
  const upper: Span = { ...span, from: middle, low: undefined }
  if (upper.high !== undefined) upper.high.span = upper
  span.high = undefined
  span.to = middle
  state.spans.add(upper)
  return upper
}
