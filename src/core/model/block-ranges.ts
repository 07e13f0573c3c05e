import type { BlockRange } from './model.ts'

/** Removes a range from sorted, disjoint ranges. */
export function subtractRange(ranges: readonly BlockRange[], removed: BlockRange): BlockRange[] {
  if (removed.from >= removed.to) return [...ranges]
  const first = ranges.findIndex(({ to }) => to > removed.from)
  if (first < 0) return [...ranges]
  let next = first
  while ((ranges[next]?.from ?? removed.to) < removed.to) next += 1
  const cut = ranges.slice(first, next).flatMap((range) =>
    [
      { from: range.from, to: Math.min(range.to, removed.from) },
      { from: Math.max(range.from, removed.to), to: range.to },
    ].filter(({ from, to }) => from < to),
  )
  return [...ranges.slice(0, first), ...cut, ...ranges.slice(next)]
}

/** Merges ranges into sorted, disjoint ranges that do not touch. */
export function unionRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const union: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = union.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else if (from < to) union.push({ from, to })
  }
  return union
}

/** The parts of `bounds` that none of the sorted, disjoint ranges covers. */
export function gapsIn(ranges: readonly BlockRange[], bounds: BlockRange): BlockRange[] {
  const ends = [...ranges, { from: bounds.to, to: bounds.to }]
  return ends
    .map(({ from }, at) => ({
      from: Math.max(bounds.from, ranges[at - 1]?.to ?? bounds.from),
      to: Math.min(bounds.to, from),
    }))
    .filter(({ from, to }) => from < to)
}

/**
 * Adds one block to sorted, disjoint ranges that do not touch, in place. Fast if most blocks arrive in
 * ascending order: there may be millions of them.
 */
export function addBlock(ranges: BlockRange[], block: number): void {
  let at = ranges.length
  while (at > 0 && (ranges[at - 1]?.to ?? 0) >= block) at -= 1
  let next = at
  while ((ranges[next]?.from ?? Number.POSITIVE_INFINITY) <= block + 1) next += 1
  const joined = ranges.slice(at, next)
  const from = Math.min(block, joined[0]?.from ?? block)
  const to = Math.max(block + 1, joined.at(-1)?.to ?? 0)
  ranges.splice(at, next - at, { from, to })
}

/** Number of blocks in disjoint ranges. */
export function countBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0)
}
