import type { BlockRange, Compression, FormatName, PartitionBy } from '../core/model/model.ts'
import type { TableName } from '../core/table/index.ts'
import { FORMATS } from '../formats/index.ts'

export type PartName = {
  table: TableName
  /** Partition folder below the folder of the table, such as `day=2023-11-14`; undefined without partitioning. */
  partition: string | undefined
  /** Half-open range of blocks in the name. */
  range: BlockRange
  /** Sequence number from 0 within the block range. */
  number: number
  format: FormatName
  compression: Compression
}

/** Returns the path of a part file relative to its output, with forward slashes (CONTRACT section 3). */
export function partPath({ table, partition, range, number, format, compression }: PartName): string {
  const blocks = [range.from, range.to].map((block) => String(block).padStart(12, '0')).join('-')
  const extension = FORMATS[format].extension(compression)
  const name = `${table}-${blocks}-${String(number).padStart(4, '0')}.${extension}`
  return [table, ...(partition === undefined ? [] : [partition]), name].join('/')
}

/** Returns the partition folder of a part file, or undefined if it lies directly in the folder of the table. */
export function partitionOfPath(path: string): string | undefined {
  return path.split('/').slice(1, -1).join('/') || undefined
}

/** Returns the sequence number in the name of a part file. */
export function numberOfPath(path: string): number {
  return Number(/-(\d+)(?:-[\da-f]{8})?\.[a-z.]+$/.exec(path)?.[1] ?? 0)
}

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
