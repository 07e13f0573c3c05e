/** Adds counts by name, such as the counts of several parts of a run. */
export function addCounts(
  counts: readonly Iterable<readonly [name: string, count: number]>[],
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const map of counts) for (const [name, count] of map) sums.set(name, (sums.get(name) ?? 0) + count)
  return sums
}
