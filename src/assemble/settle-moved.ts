import { compareKeys, type ItemKey } from '../core/item-key.ts'
import type { BlockRange } from '../core/model.ts'
import { findRepeated, fingerprint, readFingerprints } from '../merge/fingerprints.ts'
import type { ItemSource } from '../merge/frame-items.ts'
import type { MovedTransaction, SourcePlace } from '../merge/source-place.ts'
import type { Slice, SliceRows } from './write-slice.ts'

export type Settling = {
  /** The pages that may hold items of these blocks, in the order of receipt. */
  placesIn: (range: BlockRange) => readonly SourcePlace[]
  open: (place: SourcePlace) => ItemSource
  /** Sorts pages into runs where too many of them overlap. */
  sortExternally: (places: readonly SourcePlace[]) => Promise<readonly SourcePlace[]>
  /** Makes a slice again, in place of the one before. */
  rewrite: (before: SliceRows, slice: Slice) => Promise<SliceRows>
}

/**
 * Brings every transaction to one place. Pages may tell of several: the chain was reorganised while they were read, or two
 * listings differ. Then it stands where the listing of the lowest address has it last, with the views of all (CONTRACT
 * section 2), and the slices that held it are made again. Resolves with all slices.
 */
export async function settleMoved(
  slices: readonly SliceRows[],
  settling: Settling,
): Promise<readonly SliceRows[]> {
  const repeated = findRepeated(slices.map(({ hashes }) => hashes))
  if (repeated.size === 0) return slices
  const holds = ({ hashes }: SliceRows, wanted: ReadonlySet<number>) =>
    readFingerprints(hashes).some((one) => wanted.has(one))
  const { moved, pages } = findMoved(
    slices.filter((slice) => holds(slice, repeated)).map(({ range }) => range),
    { ...settling, repeated },
  )
  const wanted = new Set([...moved.keys()].map(fingerprint))
  const settled: SliceRows[] = []
  for (const slice of slices) {
    if (!holds(slice, wanted)) settled.push(slice)
    else {
      const others = settling.placesIn(slice.range).filter(({ offset }) => !pages.has(offset))
      const places = [...(await settling.sortExternally(others)), ...pages.values()]
      settled.push(await settling.rewrite(slice, { range: slice.range, places, moved }))
    }
  }
  return settled
}

type Moved = {
  moved: Map<string, MovedTransaction>
  /** The pages that hold it, by offset; their items may belong outside of what the pages span. */
  pages: Map<number, SourcePlace>
}

type Finding = Pick<Settling, 'placesIn' | 'open'> & { repeated: ReadonlySet<number> }

function findMoved(ranges: readonly BlockRange[], { placesIn, open, repeated }: Finding): Moved {
  const places = new Map(ranges.flatMap((range) => placesIn(range).map((place) => [place.offset, place])))
  const views = new Map<string, View[]>()
  for (const place of [...places.values()].sort((a, b) => a.offset - b.offset)) {
    for (const { wallet, key } of open(place).load()) {
      if (!repeated.has(fingerprint(key.hash))) continue
      const known = views.get(key.hash)
      if (known === undefined) views.set(key.hash, [{ wallet, key, place }])
      else known.push({ wallet, key, place })
    }
  }
  const moved = new Map<string, MovedTransaction>()
  const pages = new Map<number, SourcePlace>()
  for (const [hash, all] of views) {
    if (all.every(({ key }) => compareKeys(key, all[0]?.key ?? key) === 0)) continue
    moved.set(hash, settle(all))
    for (const { place } of all) pages.set(place.offset, { ...place, span: null })
  }
  return { moved, pages }
}

type View = { wallet: string; key: ItemKey; place: SourcePlace }

function settle(views: readonly View[]): MovedTransaction {
  const rising = [...views].sort((a, b) => compareKeys(a.key, b.key))
  const last = new Map(rising.map(({ wallet, key }) => [wallet, key]))
  const [lowest = ''] = [...last.keys()].sort()
  return { key: last.get(lowest) as ItemKey, last }
}
