import type { PageRecord } from '../checkpoint/listing-state.ts'
import { compareKeys } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { PageLocation } from './merge/page-items.ts'

/**
 * Returns the locations of the pages that may contain items of these blocks. Every thread receives them and a
 * run may have millions, so optional fields are omitted instead of set to undefined.
 */
export function pagesIn(records: readonly PageRecord[], { from, to }: BlockRange): PageLocation[] {
  const pages: PageLocation[] = []
  for (const { wallet, location, blocks, validBefore, rereadRanges, run } of records) {
    if (blocks === null || blocks.max < from || blocks.min >= Math.min(to, validBefore)) continue
    const { offset, bytes } = location
    const includedTo = validBefore === Number.POSITIVE_INFINITY ? undefined : validBefore
    const superseded = { ...(run > 0 && { run }), ...(rereadRanges && { rereadRanges }) }
    pages.push({
      wallet,
      offset,
      bytes,
      keyRange: keyRangeOfBlocks(blocks),
      validBefore: includedTo,
      ...superseded,
    })
  }
  return pages
}

const [LAST_INDEX, LAST_HASH] = [2 ** 31 - 1, '\uffff']

/** A key range that contains every possible position in these blocks. */
function keyRangeOfBlocks({ min, max }: { min: number; max: number }): PageLocation['keyRange'] {
  return {
    first: { block: min, index: -1, hash: '' },
    last: { block: max, index: LAST_INDEX, hash: LAST_HASH },
  }
}

export const totalBytes = (pages: readonly PageLocation[]) => pages.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * Approximate page bytes of a batch. Small enough that every thread gets a batch in runs large enough to use
 * threads.
 */
const BATCH_BYTES = 8_000_000

/**
 * Cuts the range into batches at block boundaries, so that about `BATCH_BYTES` of pages begin in each batch.
 * Where many pages overlap, batches are larger, because a page is read once for every batch that it overlaps.
 */
export function cutBatches<T extends PageLocation>(
  range: BlockRange,
  pages: readonly T[],
): { range: BlockRange; pages: T[] }[] {
  const target = Math.max(BATCH_BYTES, 3 * maxOverlappingBytes(pages))
  const starts = pages.map(({ keyRange, bytes }) => ({ block: keyRange?.first.block ?? range.from, bytes }))
  starts.sort((a, b) => a.block - b.block)
  const cuts = [range.from]
  let bytes = 0
  for (const start of starts) {
    if (bytes >= target && start.block > (cuts.at(-1) ?? range.from)) {
      cuts.push(start.block)
      bytes = 0
    }
    bytes += start.bytes
  }
  return cuts.map((from, at) => {
    const batch = { from, to: cuts[at + 1] ?? range.to }
    return { range: batch, pages: pages.filter((page) => mayContain(page, batch)) }
  })
}

/** Whether a page may contain items of these blocks. */
export function mayContain({ keyRange }: PageLocation, { from, to }: BlockRange): boolean {
  return keyRange !== null && keyRange.first.block < to && keyRange.last.block >= from
}

/**
 * The largest total size of pages that overlap at any position. A merge holds them in memory at the same
 * time.
 */
export function maxOverlappingBytes(pages: readonly PageLocation[]): number {
  const edges = pages.flatMap(({ keyRange, bytes }) => {
    if (keyRange === null) return []
    return [
      { at: keyRange.first, bytes },
      { at: keyRange.last, bytes: -bytes },
    ]
  })
  edges.sort((a, b) => compareKeys(a.at, b.at) || b.bytes - a.bytes)
  let [open, max] = [0, 0]
  for (const { bytes } of edges) {
    open += bytes
    max = Math.max(max, open)
  }
  return max
}
