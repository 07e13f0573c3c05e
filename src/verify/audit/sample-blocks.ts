export type SampleOptions = {
  /** Blocks wanted in all; the whole range where it holds no more. */
  count: number
  /** Blocks to have in any case, inside the range, at most `count`. */
  required: readonly number[]
  from: number
  /** Exclusive. */
  to: number
  /** Whole number from 0; the same seed draws the same blocks. */
  seed: number
}

/** The sure blocks and others drawn from the rest of the range, each as likely as any other; rising. */
export function sampleBlocks({ count, required, from, to, seed }: SampleOptions): number[] {
  const included = [...new Set(required)].sort((a, b) => a - b)
  const rest = sampleNumbers({ count: count - included.length, limit: to - from - included.length, seed })
  return [...included, ...toFreeBlocks(rest, { included, from })].sort((a, b) => a - b)
}

/** Different whole numbers from 0, by Floyd's way: as many throws as numbers, however full the range gets. */
function sampleNumbers({ count, limit, seed }: { count: number; limit: number; seed: number }): number[] {
  const random = createRandom(seed)
  const sampled = new Set<number>()
  for (let last = Math.max(0, limit - count); last < limit; last += 1) {
    const index = Math.floor(random() * (last + 1))
    sampled.add(sampled.has(index) ? last : index)
  }
  return [...sampled].sort((a, b) => a - b)
}

/** Turns places among the blocks that are not taken into blocks; all lists rise. */
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

/** Numbers in [0, 1) of 53 bits from a seed (mulberry32, two throws each). */
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
