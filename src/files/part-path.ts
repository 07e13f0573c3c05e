import type { BlockRange, Compression, FormatName } from '../core/model/model.ts'
import type { TableName } from '../core/table/index.ts'
import { FORMATS } from '../formats/index.ts'

export type PartName = {
  table: TableName
  /** Folder inside the table's, such as `day=2023-11-14`; undefined: none. */
  partition: string | undefined
  /** Half-open range of blocks that the name carries. */
  range: BlockRange
  /** From 0, within the blocks of one run. */
  number: number
  format: FormatName
  compression: Compression
}

/** The path of a part file in its output, with forward slashes (CONTRACT section 3). */
export function partPath({ table, partition, range, number, format, compression }: PartName): string {
  const blocks = [range.from, range.to].map((block) => String(block).padStart(12, '0')).join('-')
  const extension = FORMATS[format].extension(compression)
  const name = `${table}-${blocks}-${String(number).padStart(4, '0')}.${extension}`
  return [table, ...(partition === undefined ? [] : [partition]), name].join('/')
}

/** The folder inside the table's that a part file lies in; undefined where it lies in the table's own. */
export function partitionOfPath(path: string): string | undefined {
  return path.split('/').slice(1, -1).join('/') || undefined
}

/** The number in a part file's name. */
export function numberOfPath(path: string): number {
  return Number(/-(\d+)\.[a-z.]+$/.exec(path)?.[1] ?? 0)
}
