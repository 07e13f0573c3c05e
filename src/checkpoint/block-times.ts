import { LOOKBACK_MS, type Lookback } from '../core/model/lookback.ts'

/** A block and its time in milliseconds since 1970. */
export type BlockTime = readonly [block: number, timeMs: number]

/** The position of an item. */
type Position = { block: number; timeMs: number }

/**
 * Returns the times that a later run needs to find the lookback: those of the newest item and of the newest item up to
 * `claimed`, each with that of the newest item which is older by at least the default lookback.
 */
export function timesForLookback(items: readonly Position[], claimed: number): BlockTime[] {
  const times = new Map<number, number>()
  for (const last of [Number.POSITIVE_INFINITY, claimed]) {
    const newest = newestOf(items, ({ block }) => block <= last)
    if (newest === undefined) continue
    const older = newestOf(items, ({ timeMs }) => timeMs <= newest.timeMs - LOOKBACK_MS)
    for (const { block, timeMs } of [newest, older ?? newest]) times.set(block, timeMs)
  }
  return [...times]
}

function newestOf<T extends Position>(items: readonly T[], isEligible: (item: T) => boolean): T | undefined {
  let newest: T | undefined
  for (const item of items)
    if (isEligible(item) && item.block > (newest?.block ?? Number.NEGATIVE_INFINITY)) newest = item
  return newest
}

/**
 * Returns a function that finds the first block of the lookback before an end. Every block of the lookback's time is
 * after the newest block that is known to be older.
 *
 * @param times known times, in any order
 * @param first the result if all blocks before the end may belong to the lookback
 */
export function lookbackFinder(
  times: readonly BlockTime[],
  { blocks, ms }: Lookback,
  first: number,
): (end: number) => number {
  const sorted = ms === 0 ? [] : [...times].sort(([a], [b]) => a - b)
  const starts = new Map<number, number>()
  const find = (end: number): number => {
    const byBlocks = Math.max(first, end - blocks)
    let at = lowerBound(sorted, end) - 1
    const newest = sorted[at]
    if (newest === undefined) return byBlocks
    while (at >= 0 && (sorted[at]?.[1] ?? 0) > newest[1] - ms) at -= 1
    return Math.min(byBlocks, Math.max(first, (sorted[at]?.[0] ?? first - 1) + 1))
  }
  return (end) => {
    const start = starts.get(end) ?? find(end)
    starts.set(end, start)
    return start
  }
}

/** The index of the first time whose block is at least `block`. */
function lowerBound(sorted: readonly BlockTime[], block: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle]?.[0] ?? block) < block) low = middle + 1
    else high = middle
  }
  return low
}
