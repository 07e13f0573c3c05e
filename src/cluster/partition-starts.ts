import type { PartitionBy } from '../core/model/model.ts'
import { createPartitioner } from '../files/partition.ts'

/** The first block that was seen of each partition, by its folder; partitions of so many blocks need none. */
export type PartitionStarts = { [folder: string]: number }

type DatedBlock = { block: number; timeMs: number }

/** Takes note of items, in place. */
export function recordStarts(starts: PartitionStarts, keys: readonly DatedBlock[], by: PartitionBy): void {
  if (by.startsWith('blocks:')) return
  const folderOf = createPartitioner(by)
  for (const { block, timeMs } of keys) {
    const folder = folderOf(block, timeMs)
    starts[folder] = Math.min(starts[folder] ?? block, block)
  }
}

/** The first block of each partition, of all that was read; in ascending order. */
export function mergeStarts(all: readonly PartitionStarts[]): number[] {
  const merged: PartitionStarts = {}
  for (const one of all)
    for (const [folder, block] of Object.entries(one))
      merged[folder] = Math.min(merged[folder] ?? block, block)
  // What lies before the first partition that has items has none: it belongs to that one.
  return Object.values(merged)
    .sort((a, b) => a - b)
    .slice(1)
}
