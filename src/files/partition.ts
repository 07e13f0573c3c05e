import type { PartitionBy } from '../core/model/model.ts'

/** Returns the Hive-style partition folder of a block. `timeMs` is the time of the block in milliseconds since 1970. */
export type Partitioner = (block: number, timeMs: number) => string

/**
 * Partitions by UTC day, by UTC month, or by ranges of n blocks that start at block 0. The folder depends on the block and
 * its time only, so later runs add files to the folders of earlier runs.
 */
export function createPartitioner(by: PartitionBy): Partitioner {
  if (by === 'day') return (_, timeMs) => `day=${isoDay(timeMs)}`
  if (by === 'month') return (_, timeMs) => `month=${isoDay(timeMs).slice(0, 7)}`
  const size = Number(by.slice('blocks:'.length))
  return (block) => {
    const start = block - (block % size)
    return `blocks=${padded(start)}-${padded(start + size)}`
  }
}

const isoDay = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)
const padded = (block: number) => String(block).padStart(12, '0')
