import type { Frame } from '../checkpoint/listing-state.ts'
import { compareKeys } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { PagePlace } from './merge/page-source.ts'

/** The pages that may hold items of these blocks. There may be many, in all threads: each is as small as can be. */
export function placesIn(frames: readonly Frame[], { from, to }: BlockRange): PagePlace[] {
  const places: PagePlace[] = []
  for (const { wallet, place, blocks, until, replaced, run } of frames) {
    if (blocks === null || blocks.max < from || blocks.min >= Math.min(to, until)) continue
    const { offset, bytes } = place
    const counted = until === Number.POSITIVE_INFINITY ? undefined : until
    const since = { ...(run > 0 && { run }), ...(replaced && { replaced }) }
    places.push({ wallet, offset, bytes, span: spanOfBlocks(blocks), until: counted, ...since })
  }
  return places
}

const [LAST_INDEX, LAST_HASH] = [2 ** 31 - 1, '\uffff']

/** All that may lie in these blocks. */
function spanOfBlocks({ min, max }: { min: number; max: number }): PagePlace['span'] {
  return {
    first: { block: min, index: -1, hash: '' },
    last: { block: max, index: LAST_INDEX, hash: LAST_HASH },
  }
}

export const bytesOf = (places: readonly PagePlace[]) => places.reduce((sum, { bytes }) => sum + bytes, 0)

/** Page bytes in a slice, about: so many that every thread has some, in a run that is worth the threads. */
const SLICE_BYTES = 8_000_000

/** Cuts between blocks, where about `SLICE_BYTES` of pages begin; where many pages overlap, slices are longer. */
export function cutSlices<T extends PagePlace>(
  range: BlockRange,
  places: readonly T[],
): { range: BlockRange; places: T[] }[] {
  const target = Math.max(SLICE_BYTES, 3 * mostOverlapping(places))
  const starts = places.map(({ span, bytes }) => ({ block: span?.first.block ?? range.from, bytes }))
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
    const slice = { from, to: cuts[at + 1] ?? range.to }
    return { range: slice, places: places.filter((place) => mayHold(place, slice)) }
  })
}

/** Whether a page may have items of these blocks. */
export function mayHold({ span }: PagePlace, { from, to }: BlockRange): boolean {
  return span !== null && span.first.block < to && span.last.block >= from
}

/** The most bytes of pages that overlap: a merge has them open at once. */
export function mostOverlapping(places: readonly PagePlace[]): number {
  const edges = places.flatMap(({ span, bytes }) => {
    if (span === null) return []
    return [
      { at: span.first, bytes },
      { at: span.last, bytes: -bytes },
    ]
  })
  edges.sort((a, b) => compareKeys(a.at, b.at) || b.bytes - a.bytes)
  let [held, most] = [0, 0]
  for (const { bytes } of edges) {
    held += bytes
    most = Math.max(most, held)
  }
  return most
}
