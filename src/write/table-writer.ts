import { join } from 'node:path'
import type { Compression, Format } from '../model.ts'
import type { Row, Table } from '../table/index.ts'
import { openCsv } from './csv.ts'
import { openParquet } from './parquet.ts'
import type { PartWriter } from './part-file.ts'

export type TableWriterOptions = {
  table: Table
  /** Where unfinished parts are staged; on the file system of the output. */
  folder: string
  /** Half-open range of blocks that the names carry. */
  range: { from: number; to: number }
  format: Format
  compression: Compression
  maxRowsPerFile: number
  escapeFormulas: boolean
}

/** A finished part: `staged` is where it lies now, `path` what the manifest will call it. */
export type Part = {
  staged: string
  path: string
  rows: number
  bytes: number
  sha256: string
  fromBlock: number
  toBlock: number
}

/** Writes one table in its final order, rolling to a next file at `maxRowsPerFile`. */
export type TableWriter = {
  /** Takes the next rows of the table. */
  write(rows: readonly Row[]): Promise<void>
  finish(): Promise<Part[]>
  abandon(): Promise<void>
}

export function createTableWriter(options: TableWriterOptions): TableWriter {
  const parts: Part[] = []
  let open: OpenPart | undefined
  const begin = (): OpenPart => {
    const name = partName(options, parts.length)
    return { writer: openPart(options, join(options.folder, name)), name, rows: 0 }
  }
  const end = async ({ writer, name, rows }: OpenPart) => {
    const measured = await writer.finish()
    open = undefined
    const { table, folder, range } = options
    const place = { staged: join(folder, name), path: `${table.name}/${name}` }
    parts.push({ ...place, rows, ...measured, fromBlock: range.from, toBlock: range.to })
  }
  return {
    write: async (rows) => {
      for (let at = 0; at < rows.length; ) {
        open ??= begin()
        const taken = rows.slice(at, at + options.maxRowsPerFile - open.rows)
        await open.writer.write(taken)
        open.rows += taken.length
        at += taken.length
        if (open.rows === options.maxRowsPerFile) await end(open)
      }
    },
    finish: async () => {
      if (parts.length === 0) open ??= begin()
      if (open !== undefined) await end(open)
      return parts
    },
    abandon: async () => open?.writer.abandon(),
  }
}

type OpenPart = { writer: PartWriter; name: string; rows: number }

function partName({ table, range, format, compression }: TableWriterOptions, number: number): string {
  const blocks = [range.from, range.to].map((block) => String(block).padStart(12, '0')).join('-')
  const ending = format === 'parquet' ? 'parquet' : compression === 'gzip' ? 'csv.gz' : 'csv'
  return `${table.name}-${blocks}-${String(number).padStart(4, '0')}.${ending}`
}

function openPart(options: TableWriterOptions, path: string): PartWriter {
  const { table, compression, escapeFormulas } = options
  if (options.format === 'parquet') return openParquet({ path, table, compression })
  return openCsv({ path, table, gzip: compression === 'gzip', escapeFormulas })
}
