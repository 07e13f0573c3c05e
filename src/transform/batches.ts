import type { PageRecord } from '../checkpoint/listing-state.ts'
import { compareKeys } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { PageLocation } from './merge/page-source.ts'

/** The pages that may hold items of these blocks. There may be many, in all threads: each is as small as can be. */
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

/** All that may lie in these blocks. */
function keyRangeOfBlocks({ min, max }: { min: number; max: number }): PageLocation['keyRange'] {
  return {
    first: { block: min, index: -1, hash: '' },
    last: { block: max, index: LAST_INDEX, hash: LAST_HASH },
  }
}

export const totalBytes = (pages: readonly PageLocation[]) => pages.reduce((sum, { bytes }) => sum + bytes, 0)

/** Page bytes in a slice, about: so many that every thread has some, in a run that is worth the threads. */
const BATCH_BYTES = 8_000_000

/** Cuts between blocks, where about `BATCH_BYTES` of pages begin; where many pages overlap, slices are longer. */
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

/** Whether a page may have items of these blocks. */
export function mayContain({ keyRange }: PageLocation, { from, to }: BlockRange): boolean {
  return keyRange !== null && keyRange.first.block < to && keyRange.last.block >= from
}

/** The most bytes of pages that overlap: a merge has them open at once. */
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
