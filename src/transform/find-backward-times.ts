import type { BlockRange } from '../core/model/model.ts'
import {
  isUsable,
  openStagedSource,
  type StagedContext,
  type StagedPageLocation,
  secondOf,
} from './staged/read-staged.ts'
import type { BatchRows } from './write-batch.ts'

type TimeSearch = Omit<StagedContext, 'range'> & { pages: readonly StagedPageLocation[] }

export type BlockTime = { block: number; second: number }

/**
 * Returns the block times, in whole seconds, that are lower than that of an earlier block. Of contradicting times, as
 * few as possible are returned, so that one block with a time in the future does not take all later ones with it.
 *
 * @param batches contiguous, as they were written last
 * @param floorMs block time that none may be lower than, in milliseconds since 1970
 */
export function findBackwardTimes(
  batches: readonly BatchRows[],
  floorMs: number,
  search: TimeSearch,
): BlockTime[] {
  const floor = Math.floor(floorMs / 1000)
  const times = batches.flatMap((batch) => batch.times ?? [])
  const follows = times.every(
    ({ first }, at) => Math.floor(first / 1000) >= Math.floor((times[at - 1]?.last ?? floorMs) / 1000),
  )
  if (follows && batches.every(({ isAscending }) => isAscending)) return []
  const range = { from: batches[0]?.range.from ?? 0, to: batches.at(-1)?.range.to ?? 0 }
  return outsideLongestAscending(timesOfBlocks(range, search), floor)
}

/** The different times of each block in ascending order. Of a wallet's items at one position, the last one received counts. */
function timesOfBlocks(range: BlockRange, { pages, ...search }: TimeSearch): BlockTime[] {
  const context = { ...search, range }
  const stated = new Map<string, BlockTime>()
  for (const page of pages)
    for (const item of openStagedSource(page, context).load()) {
      const { block, index, hash } = item.key
      // A transaction's time is stated by a view that is listed at its position.
      if (item.page.index.block[item.at] !== block || !isUsable(item, search.rejectedTimes)) continue
      stated.set(`${item.wallet} ${block} ${index} ${hash}`, { block, second: secondOf(item) })
    }
  const times = new Map<string, BlockTime>()
  for (const time of stated.values()) times.set(`${time.block} ${time.second}`, time)
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
