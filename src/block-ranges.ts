import type { BlockRange } from './model.ts'

/** What is left of sorted, disjoint ranges once `gone` is taken out. */
export function subtractRange(ranges: readonly BlockRange[], gone: BlockRange): BlockRange[] {
  if (gone.from >= gone.to) return [...ranges]
  return ranges.flatMap((range) =>
    [
      { from: range.from, to: Math.min(range.to, gone.from) },
      { from: Math.max(range.from, gone.to), to: range.to },
    ].filter(({ from, to }) => from < to),
  )
}
