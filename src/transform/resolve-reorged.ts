import { compareKeys } from '../core/model/item-key.ts'
import type { BlockRange } from '../core/model/model.ts'
import { mayHold } from './batches.ts'
import { findRepeated, fingerprint, readFingerprints } from './merge/fingerprints.ts'
import type { MovedTransaction } from './merge/page-source.ts'
import type { Place } from './merge/record-items.ts'
import { openIndexes } from './staged/read-staged.ts'
import { openStaged, type StagedContext, type StagedPlace } from './staged/staged-source.ts'
import type { Slice, SliceRows } from './write-batch.ts'

export type Settling = {
  /** All pages, in the order of receipt. */
  places: readonly StagedPlace[]
  /** Where their lines are staged. */
  folder: string
  /** Makes a slice again. */
  rewrite: (slice: Slice) => Promise<SliceRows>
}

/**
 * Brings every transaction to one place. Pages may tell of several: the chain was reorganised while they were read, or two
 * listings differ. Then it stands where the preferred view has it last (CONTRACT section 2.4), with the views of all, and
 * the slices that held it are made again. Resolves with all slices.
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
      const { range } = slice
      const places = settling.places.flatMap(
        (place) => pages.get(place.offset) ?? (mayHold(place, range) ? place : []),
      )
      settled.push(await settling.rewrite({ range, places, moved }))
    }
  }
  return settled
}

type Moved = {
  moved: Map<string, MovedTransaction>
  /** The pages that hold it, by offset; their items may belong outside of what the pages span. */
  pages: Map<number, StagedPlace>
}

type Finding = Pick<Settling, 'places' | 'folder'> & { repeated: ReadonlySet<number> }

function findMoved(ranges: readonly BlockRange[], finding: Finding): Moved {
  const indexes = openIndexes(finding.folder)
  try {
    return movedOf(viewsOf(ranges, finding, indexes.readIndex))
  } finally {
    indexes.close()
  }
}

/** By hash, the views of transactions that may stand in several places. */
function viewsOf(
  ranges: readonly BlockRange[],
  { places, repeated }: Finding,
  readIndex: StagedContext['readIndex'],
): Map<string, View[]> {
  const range = { from: ranges[0]?.from ?? 0, to: ranges.at(-1)?.to ?? 0 }
  const touching = places.filter((place) => ranges.some((one) => mayHold(place, one)))
  const views = new Map<string, View[]>()
  for (const place of touching.sort((a, b) => a.offset - b.offset)) {
    for (const { wallet, key, page, at } of openStaged(place, { readIndex, range }).load()) {
      if (!repeated.has(fingerprint(key.hash))) continue
      const view = { wallet, key, place, isKept: page.index.isKept[at] === true }
      const known = views.get(key.hash)
      if (known === undefined) views.set(key.hash, [view])
      else known.push(view)
    }
  }
  return views
}

function movedOf(views: ReadonlyMap<string, readonly View[]>): Moved {
  const moved = new Map<string, MovedTransaction>()
  const pages = new Map<number, StagedPlace>()
  for (const [hash, all] of views) {
    if (all.every(({ key }) => compareKeys(key, all[0]?.key ?? key) === 0)) continue
    moved.set(hash, settle(all))
    for (const { place } of all) pages.set(place.offset, { ...place, span: null })
  }
  return { moved, pages }
}

/** `isKept`: it could be normalized. */
type View = { wallet: string; key: Place; place: StagedPlace; isKept: boolean }

/** A view that could not be normalized has no rows, and gives those of others no place. */
function settle(views: readonly View[]): MovedTransaction {
  const rising = [...views].sort((a, b) => runOf(a) - runOf(b) || compareKeys(a.key, b.key))
  const last = new Map(rising.map((view) => [view.wallet, view]))
  const byWallet = [...last.values()].sort((a, b) => runOf(b) - runOf(a) || (a.wallet < b.wallet ? -1 : 1))
  const { key } = byWallet.find(({ isKept }) => isKept) ?? (byWallet[0] as View)
  return { key, last: new Map(byWallet.map((view) => [view.wallet, view.key])) }
}

const runOf = ({ place }: View): number => place.run ?? 0
