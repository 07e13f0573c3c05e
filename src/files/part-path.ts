import type { BlockRange, Compression, FormatName } from '../core/model/model.ts'
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
