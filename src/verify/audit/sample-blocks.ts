export type SampleOptions = {
  /** Total number of blocks, capped by the size of the range. */
  count: number
  /** Blocks that the sample must contain: within the range, at most `count`. */
  required: readonly number[]
  from: number
  /** Exclusive. */
  to: number
  /** Non-negative integer; the same seed selects the same blocks. */
  seed: number
}

/** Selects the required blocks and a uniform random sample of the rest of the range, ascending. */
export function sampleBlocks({ count, required, from, to, seed }: SampleOptions): number[] {
  const included = [...new Set(required)].sort((a, b) => a - b)
  const rest = sampleNumbers({ count: count - included.length, limit: to - from - included.length, seed })
  return [...included, ...toFreeBlocks(rest, { included, from })].sort((a, b) => a - b)
}

/**
 * Samples distinct integers from 0 to `limit` (exclusive) with Floyd's algorithm: one random number per sampled
 * integer.
 */
function sampleNumbers({ count, limit, seed }: { count: number; limit: number; seed: number }): number[] {
  const random = createRandom(seed)
  const sampled = new Set<number>()
  for (let last = Math.max(0, limit - count); last < limit; last += 1) {
    const index = Math.floor(random() * (last + 1))
    sampled.add(sampled.has(index) ? last : index)
  }
  return [...sampled].sort((a, b) => a - b)
}

/** Maps indexes among the blocks that are not included to block numbers. All lists are ascending. */
function toFreeBlocks(
  indexes: readonly number[],
  { included, from }: { included: readonly number[]; from: number },
): number[] {
  let skipped = 0
  return indexes.map((index) => {
    while (skipped < included.length && (included[skipped] as number) <= from + index + skipped) skipped += 1
    return from + index + skipped
  })
}

/** Creates a seeded generator of 53-bit numbers in [0, 1): mulberry32, two steps per number. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  const next32 = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return () => (next32() * 2 ** 21 + (next32() >>> 11)) / 2 ** 53
}
