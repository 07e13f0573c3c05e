import type { BlockRange } from '../core/model/model.ts'
import { openIndexes, openStagedSource } from './staged/read-staged.ts'
import { type BatchRows, type BlockRangeBatch, timeKey } from './write-batch.ts'

type RejectingTimes = {
  /** The batches as they were written last, by their first block. */
  written: ReadonlyMap<number, BlockRangeBatch>
  /** Folder of the staging files. */
  folder: string
  /** Block time up to which earlier runs have exported, in milliseconds since 1970. @default unknown */
  floorMs: number | undefined
  /** Writes a batch again. */
  rewrite: (batch: BlockRangeBatch) => Promise<BatchRows>
}

/**
 * Rejects the records whose block time, in whole seconds, is lower than that of an earlier block. Of contradicting
 * times, as few as possible are rejected, so that one block with a time in the future does not take all later ones with it.
 *
 * @returns all batches, rewritten or unchanged
 */
export async function rejectBackwardTimes(
  batches: readonly BatchRows[],
  { written, folder, floorMs = 0, rewrite }: RejectingTimes,
): Promise<readonly BatchRows[]> {
  const times = batches.flatMap((batch) => batch.times ?? [])
  const follows = times.every(({ first }, at) => secondOf(first) >= secondOf(times[at - 1]?.last ?? floorMs))
  if (follows && batches.every(({ isAscending }) => isAscending)) return batches
  const blocks = timesOfBlocks([...written.values()], folder)
  const rejected = new Set<string>()
  const rejectedBlocks = new Set<number>()
  for (const { block, second } of outsideLongestAscending(blocks, secondOf(floorMs))) {
    rejected.add(timeKey(block, second * 1000))
    rejectedBlocks.add(block)
  }
  const contains = ({ from, to }: BlockRange) =>
    [...rejectedBlocks].some((block) => block >= from && block < to)
  const result: BatchRows[] = []
  for (const batch of batches) {
    const before = written.get(batch.range.from)
    const isUnchanged = before === undefined || !contains(batch.range)
    result.push(isUnchanged ? batch : await rewrite({ ...before, rejectedTimes: rejected }))
  }
  return result
}

const secondOf = (ms: number) => Math.floor(ms / 1000)

type BlockTime = { block: number; second: number }

/** The different times of each block in ascending order. */
function timesOfBlocks(batches: readonly BlockRangeBatch[], folder: string): BlockTime[] {
  const indexes = openIndexes(folder)
  const times = new Map<string, BlockTime>()
  try {
    for (const { range, pages, reorged } of batches)
      for (const page of pages)
        for (const { key, page: opened, at } of openStagedSource(page, {
          readIndex: indexes.readIndex,
          range,
          reorged,
        }).load()) {
          if (opened.index.isNormalized[at] !== true) continue
          const timeMs = opened.index.timeMs[at] ?? 0
          times.set(timeKey(key.block, timeMs), { block: key.block, second: secondOf(timeMs) })
        }
  } finally {
    indexes.close()
  }
  return [...times.values()].sort((a, b) => a.block - b.block || a.second - b.second)
}

/**
 * Returns the elements that are not in the longest sequence whose times do not decrease and are not below `floor`. Of
 * several sequences, the one with the earliest blocks counts.
 */
function outsideLongestAscending(times: readonly BlockTime[], floor: number): BlockTime[] {
  const valid = times.filter(({ second }) => second >= floor)
  const [tails, previous]: [number[], number[]] = [[], []]
  const secondAt = (at: number | undefined) => valid[at ?? -1]?.second ?? 0
  for (let at = valid.length - 1; at >= 0; at -= 1) {
    let [low, high] = [0, tails.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (secondAt(tails[middle]) >= secondAt(at)) low = middle + 1
      else high = middle
    }
    previous[at] = tails[low - 1] ?? -1
    tails[low] = at
  }
  const kept = new Set<BlockTime>()
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const time = valid[at]
    if (time !== undefined) kept.add(time)
  }
  return times.filter((time) => !kept.has(time))
}
