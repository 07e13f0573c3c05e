import type { BlockRange } from '../../core/model/model.ts'

/** What a reader has seen of late at its end of a span: pages further back count less and less. */
export type ObservedDensity = { items: number; blocks: number }

/** Blocks of one wallet that no page has shown yet, read from one end or from both. */
export type UnreadRange = {
  readonly address: string
  from: number
  to: number
  /** Readers at the low end, going up, and at the high end, going down. */
  low: RangeReader | undefined
  high: RangeReader | undefined
  /** Both ends have been seen: before that, most of its blocks may be empty. */
  isBounded: boolean
}

export type RangeReader = {
  unread: UnreadRange
  observed: ObservedDensity
  /** There was another at the other end when it came. */
  isSecond: boolean
  /** It leaves the rest to the reader at the other end. */
  isHandedOver: boolean
}

/** A page as a plan looks at it. */
export type ObservedPage = { items: number; blocks: { min: number; max: number } | undefined }

/** How much less a page counts with each page after it. */
const DECAY = 0.5

export function observePage({ observed }: RangeReader, { items, blocks }: ObservedPage): void {
  if (blocks === undefined) return
  observed.items = observed.items * DECAY + items
  observed.blocks = observed.blocks * DECAY + blocks.max - blocks.min + 1
}

/** What a new reader takes for granted before its first page: what the other end has shown, faintly. */
export function seedEstimate({ low, high }: UnreadRange): ObservedDensity {
  const { items, blocks } = (low ?? high)?.observed ?? { items: 0, blocks: 0 }
  return { items: items * PRIOR_WEIGHT, blocks: blocks * PRIOR_WEIGHT }
}

const PRIOR_WEIGHT = 0.1

/**
 * Items that are left in a span, about; undefined where nothing has been seen of it. The geometric mean of both ends:
 * densities differ by factors.
 */
export function estimateItems(unread: UnreadRange): number | undefined {
  const densities = densitiesAtEnds(unread)
  if (densities === undefined) return undefined
  return Math.sqrt(densities.low * densities.high) * (unread.to - unread.from)
}

/** The block that halves the estimated work: each half of the blocks is taken to be as dense as its end. */
export function splitPoint(unread: UnreadRange): number {
  const { from, to } = unread
  const { low, high } = densitiesAtEnds(unread) ?? { low: 1, high: 1 }
  const half = ((low + high) * (to - from)) / 4
  const middle = low >= high ? from + half / low : to - half / high
  return Math.min(to - 1, Math.max(from + 1, Math.round(middle)))
}

/** Items a block at both ends; an end without a reader is taken to be like the other. */
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

export const isRead = ({ from, to }: BlockRange) => from >= to
