import type { BlockRange } from './model.ts'

/** What is left of sorted, disjoint ranges once `gone` is taken out. */
export function subtractRange(ranges: readonly BlockRange[], gone: BlockRange): BlockRange[] {
  if (gone.from >= gone.to) return [...ranges]
  const first = ranges.findIndex(({ to }) => to > gone.from)
  if (first < 0) return [...ranges]
  let next = first
  while ((ranges[next]?.from ?? gone.to) < gone.to) next += 1
  const cut = ranges.slice(first, next).flatMap((range) =>
    [
      { from: range.from, to: Math.min(range.to, gone.from) },
      { from: Math.max(range.from, gone.to), to: range.to },
    ].filter(({ from, to }) => from < to),
  )
  return [...ranges.slice(0, first), ...cut, ...ranges.slice(next)]
}

/** The same blocks as sorted, disjoint ranges that do not touch. */
export function uniteRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const united: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = united.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else if (from < to) united.push({ from, to })
  }
  return united
}

/** What lies in `whole` and in none of the sorted, disjoint ranges. */
export function rangesBetween(ranges: readonly BlockRange[], whole: BlockRange): BlockRange[] {
  const ends = [...ranges, { from: whole.to, to: whole.to }]
  return ends
    .map(({ from }, at) => ({
      from: Math.max(whole.from, ranges[at - 1]?.to ?? whole.from),
      to: Math.min(whole.to, from),
    }))
    .filter(({ from, to }) => from < to)
}

/**
 * Adds one block to sorted, disjoint ranges that do not touch, in place. Quick where blocks come about in ascending
 * order: millions of them may have to be told apart.
 */
export function includeBlock(ranges: BlockRange[], block: number): void {
  let at = ranges.length
  while (at > 0 && (ranges[at - 1]?.to ?? 0) >= block) at -= 1
  let next = at
  while ((ranges[next]?.from ?? Number.POSITIVE_INFINITY) <= block + 1) next += 1
  const joined = ranges.slice(at, next)
  const from = Math.min(block, joined[0]?.from ?? block)
  const to = Math.max(block + 1, joined.at(-1)?.to ?? 0)
  ranges.splice(at, next - at, { from, to })
}

/** How many blocks disjoint ranges hold. */
export function countBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0)
}
