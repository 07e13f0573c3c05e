import { subtractRange, unionRanges } from './block-ranges.ts'
import type { BlockRange } from './model.ts'

/** Blocks of one listing of a wallet that the service could not list, although it answered for the wallet. */
export type Gap = BlockRange & {
  /** The service's name of the listing. */
  listing: string
  /** Why, in the words of the service. */
  reason: string
}

/** Returns the parts of gaps within a range, those of equal listing and reason united, in a fixed order. */
export function gapsWithin(gaps: readonly Gap[], { from, to }: BlockRange): Gap[] {
  const groups = new Map<string, [Gap, ...Gap[]]>()
  for (const gap of gaps) {
    const key = JSON.stringify([gap.listing, gap.reason])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [gap])
    else group.push(gap)
  }
  const united = [...groups.values()].flatMap((group) => {
    const [{ listing, reason }] = group
    const clipped = group.map((gap) => ({ from: Math.max(from, gap.from), to: Math.min(to, gap.to) }))
    return unionRanges(clipped.filter((range) => range.from < range.to)).map((range): Gap => {
      return { listing, from: range.from, to: range.to, reason }
    })
  })
  return united.sort((a, b) => (a.listing < b.listing ? -1 : a.listing > b.listing ? 1 : a.from - b.from))
}

/** Removes blocks from gaps. */
export const gapsOutside = (gaps: readonly Gap[], range: BlockRange): Gap[] =>
  gaps.flatMap((gap) => subtractRange([gap], range).map(({ from, to }) => ({ ...gap, from, to })))
