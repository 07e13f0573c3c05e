import type { PartitionBy } from '../core/model/model.ts'
import { createPartitioner } from '../files/partition.ts'

/**
 * The first known block of each partition by time, keyed by its folder. Partitions of a fixed number of
 * blocks need none.
 */
export type PartitionStarts = { [folder: string]: number }

type DatedBlock = { block: number; timeMs: number }

/** Records the blocks of items; updates `starts` in place. */
export function recordStarts(starts: PartitionStarts, keys: readonly DatedBlock[], by: PartitionBy): void {
  if (by.startsWith('blocks:')) return
  const folderOf = createPartitioner(by)
  for (const { block, timeMs } of keys) {
    const folder = folderOf(block, timeMs)
    starts[folder] = Math.min(starts[folder] ?? block, block)
  }
}

/** Merges the starts of all reads: the first block of every partition but the first, ascending. */
export function mergeStarts(all: readonly PartitionStarts[]): number[] {
  const merged: PartitionStarts = {}
  for (const one of all)
    for (const [folder, block] of Object.entries(one))
      merged[folder] = Math.min(merged[folder] ?? block, block)
  // Blocks before the first partition with items belong to that partition.
  return Object.values(merged)
    .sort((a, b) => a - b)
    .slice(1)
}
