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
