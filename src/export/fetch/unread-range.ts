import type { BlockRange } from '../../core/model/model.ts'

/** What a reader has seen of late at its end of a span: pages further back count less and less. */
export type Seen = { items: number; blocks: number }

/** Blocks of one wallet that no page has shown yet, read from one end or from both. */
export type Span = {
  readonly address: string
  from: number
  to: number
  /** Readers at the low end, going up, and at the high end, going down. */
  low: SpanReader | undefined
  high: SpanReader | undefined
  /** Both ends have been seen: before that, most of its blocks may be empty. */
  isBounded: boolean
}

export type SpanReader = {
  span: Span
  seen: Seen
  /** There was another at the other end when it came. */
  isSecond: boolean
  /** It leaves the rest to the reader at the other end. */
  handsOver: boolean
}

/** A page as a plan looks at it. */
export type SeenPage = { items: number; blocks: { min: number; max: number } | undefined }

/** How much less a page counts with each page after it. */
const FADE = 0.5

export function notePage({ seen }: SpanReader, { items, blocks }: SeenPage): void {
  if (blocks === undefined) return
  seen.items = seen.items * FADE + items
  seen.blocks = seen.blocks * FADE + blocks.max - blocks.min + 1
}

/** What a new reader takes for granted before its first page: what the other end has shown, faintly. */
export function inherit({ low, high }: Span): Seen {
  const { items, blocks } = (low ?? high)?.seen ?? { items: 0, blocks: 0 }
  return { items: items * FAINT, blocks: blocks * FAINT }
}

const FAINT = 0.1

/**
 * Items that are left in a span, about; undefined where nothing has been seen of it. The geometric mean of both ends:
 * densities differ by factors.
 */
export function estimateItems(span: Span): number | undefined {
  const densities = densitiesOf(span)
  if (densities === undefined) return undefined
  return Math.sqrt(densities.low * densities.high) * (span.to - span.from)
}

/** The block that halves the estimated work: each half of the blocks is taken to be as dense as its end. */
export function middleOf(span: Span): number {
  const { from, to } = span
  const { low, high } = densitiesOf(span) ?? { low: 1, high: 1 }
  const half = ((low + high) * (to - from)) / 4
  const middle = low >= high ? from + half / low : to - half / high
  return Math.min(to - 1, Math.max(from + 1, Math.round(middle)))
}

/** Items a block at both ends; an end without a reader is taken to be like the other. */
function densitiesOf({ low, high }: Span): { low: number; high: number } | undefined {
  const [atLow, atHigh] = [densityOf(low), densityOf(high)]
  const [one, other] = [atLow ?? atHigh, atHigh ?? atLow]
  return one === undefined || other === undefined ? undefined : { low: one, high: other }
}

function densityOf(reader: SpanReader | undefined): number | undefined {
  if (reader === undefined || reader.seen.blocks === 0) return undefined
  return reader.seen.items / reader.seen.blocks
}

export const isRead = ({ from, to }: BlockRange) => from >= to
