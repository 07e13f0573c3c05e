import type { PartitionBy } from '../core/model/model.ts'

/** The folder inside a table's, Hive-style, for rows of this block and its time in milliseconds since 1970. */
export type Partitioner = (block: number, timeMs: number) => string

/**
 * Folders by UTC day, UTC month, or by stretches of so many blocks from block 0 on. A block with its time is in one
 * folder always, so that later runs add files to the folders of earlier ones.
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
