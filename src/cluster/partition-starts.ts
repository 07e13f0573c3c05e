import type { PartitionBy } from '../core/model/model.ts'
import { partitioner } from '../files/partition.ts'

/** The first block that was seen of each partition, by its folder; partitions of so many blocks need none. */
export type PartitionStarts = { [folder: string]: number }

type Placed = { block: number; timeMs: number }

/** Takes note of items, in place. */
export function noteStarts(starts: PartitionStarts, keys: readonly Placed[], by: PartitionBy): void {
  if (by.startsWith('blocks:')) return
  const folderOf = partitioner(by)
  for (const { block, timeMs } of keys) {
    const folder = folderOf(block, timeMs)
    starts[folder] = Math.min(starts[folder] ?? block, block)
  }
}

/** The first block of each partition, of all that was read; in ascending order. */
export function joinStarts(all: readonly PartitionStarts[]): number[] {
  const joined: PartitionStarts = {}
  for (const one of all)
    for (const [folder, block] of Object.entries(one))
      joined[folder] = Math.min(joined[folder] ?? block, block)
  // What lies before the first partition that has items has none: it belongs to that one.
  return Object.values(joined)
    .sort((a, b) => a - b)
    .slice(1)
}
