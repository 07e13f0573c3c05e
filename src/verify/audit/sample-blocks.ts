export type Draw = {
  /** Blocks wanted in all; the whole range where it holds no more. */
  count: number
  /** Blocks to have in any case, inside the range, at most `count`. */
  sure: readonly number[]
  from: number
  /** Exclusive. */
  to: number
  /** Whole number from 0; the same seed draws the same blocks. */
  seed: number
}

/** The sure blocks and others drawn from the rest of the range, each as likely as any other; rising. */
export function drawBlocks({ count, sure, from, to, seed }: Draw): number[] {
  const taken = [...new Set(sure)].sort((a, b) => a - b)
  const rest = drawNumbers({ count: count - taken.length, below: to - from - taken.length, seed })
  return [...taken, ...skipTaken(rest, { taken, from })].sort((a, b) => a - b)
}

/** Different whole numbers from 0, by Floyd's way: as many throws as numbers, however full the range gets. */
function drawNumbers({ count, below, seed }: { count: number; below: number; seed: number }): number[] {
  const dice = createDice(seed)
  const drawn = new Set<number>()
  for (let last = Math.max(0, below - count); last < below; last += 1) {
    const one = Math.floor(dice() * (last + 1))
    drawn.add(drawn.has(one) ? last : one)
  }
  return [...drawn].sort((a, b) => a - b)
}

/** Turns places among the blocks that are not taken into blocks; all lists rise. */
function skipTaken(
  places: readonly number[],
  { taken, from }: { taken: readonly number[]; from: number },
): number[] {
  let skipped = 0
  return places.map((place) => {
    while (skipped < taken.length && (taken[skipped] as number) <= from + place + skipped) skipped += 1
    return from + place + skipped
  })
}

/** Numbers in [0, 1) of 53 bits from a seed (mulberry32, two throws each). */
function createDice(seed: number): () => number {
  let state = seed >>> 0
  const throw32 = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return () => (throw32() * 2 ** 21 + (throw32() >>> 11)) / 2 ** 53
}
