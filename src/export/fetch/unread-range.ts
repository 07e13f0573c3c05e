import type { BlockRange } from '../../core/model/model.ts'

/** Exponentially decayed sums of the items and blocks of a reader's pages at its end of a range. */
export type ObservedDensity = { items: number; blocks: number }

/** Blocks of one wallet that no page has covered yet, read from one end or from both. */
export type UnreadRange = {
  readonly address: string
  from: number
  to: number
  /** Reader at the low end, in ascending order, and reader at the high end, in descending order. */
  low: RangeReader | undefined
  high: RangeReader | undefined
  /** Whether pages from both ends have been received. Before that, most of its blocks may be empty. */
  isBounded: boolean
}

export type RangeReader = {
  unread: UnreadRange
  observed: ObservedDensity
  /** Whether there was a reader at the other end when this one was attached. */
  isSecond: boolean
  /** Whether it has left the rest to the reader at the other end. */
  isHandedOver: boolean
}

/** The properties of a page that estimates are based on. */
export type ObservedPage = { items: number; blocks: { min: number; max: number } | undefined }

/** Factor by which the weight of a page decreases with each later page. */
const DECAY = 0.5

export function observePage({ observed }: RangeReader, { items, blocks }: ObservedPage): void {
  if (blocks === undefined) return
  observed.items = observed.items * DECAY + items
  observed.blocks = observed.blocks * DECAY + blocks.max - blocks.min + 1
}

/** Initial estimate of a new reader: the density observed at the other end, with a low weight. */
export function seedEstimate({ low, high }: UnreadRange): ObservedDensity {
  const { items, blocks } = (low ?? high)?.observed ?? { items: 0, blocks: 0 }
  return { items: items * PRIOR_WEIGHT, blocks: blocks * PRIOR_WEIGHT }
}

const PRIOR_WEIGHT = 0.1

/**
 * Estimates the number of items in an unread range; undefined if no page of it has been received. Uses the
 * geometric mean of the densities at both ends, because densities can differ by orders of magnitude.
 */
export function estimateItems(unread: UnreadRange): number | undefined {
  const densities = densitiesAtEnds(unread)
  if (densities === undefined) return undefined
  return Math.sqrt(densities.low * densities.high) * (unread.to - unread.from)
}

/**
 * Returns the block that halves the estimated work, assuming that each half of the range is as dense as its
 * end.
 */
export function splitPoint(unread: UnreadRange): number {
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

export const isRead = ({ from, to }: BlockRange) => from >= to
