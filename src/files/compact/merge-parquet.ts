import { loadDuckDb } from '../../core/duckdb/connection.ts'
import { parquetSource } from '../../core/duckdb/source-sql.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Compression } from '../../core/model/model.ts'
import type { Table } from '../../core/table/index.ts'
import { writeParquet } from '../parquet.ts'

export type ParquetMerge = {
  /** Parquet files of the table, in order. */
  sources: readonly string[]
  /** Rows of them that are left out at the start, and those that are then taken. */
  skip: number
  rows: number
  path: string
  table: Table
  compression: Compression
}

/** Copies rows of Parquet files into one, in order, as `copyToParquet` would have written them. Throws OUTPUT_FAILED. */
export async function mergeParquet(merge: ParquetMerge): Promise<{ bytes: number; sha256: string }> {
  const { sources, skip, rows, path, table, compression } = merge
  const columns = table.columns.map(({ name }) => `"${name}"`).join(', ')
  const select = `select ${columns} from ${parquetSource(sources)} limit ${rows} offset ${skip}`
  const size = { rows, bytes: await lineBytes(table, select) }
  return writeParquet({ path, table, compression, size }, select)
}

/** Bytes of the rows as CSV lines, about: they decide how many rows a row group has. */
async function lineBytes(table: Table, select: string): Promise<number> {
  const cells = table.columns.map(({ name }) => `coalesce(strlen("${name}"::varchar), 0) + 1`)
  const { DuckDBInstance } = await loadDuckDb()
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '800MB' })
  try {
    const connection = await instance.connect()
    const read = await connection.runAndReadAll(
      `select coalesce(sum(${cells.join(' + ')}), 0)::double from (${select})`,
    )
    connection.closeSync()
    return Number(read.getRows()[0]?.[0])
  } catch (cause) {
    throw new ExportError('OUTPUT_FAILED', `cannot read ${table.name} from its Parquet files`, { cause })
  } finally {
    instance.closeSync()
  }
}
