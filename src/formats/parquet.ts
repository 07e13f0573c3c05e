import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import { fieldIds } from '../core/table/index.ts'
import { pathList } from './column-sql.ts'
import { duckDbWriter } from './duckdb-writer.ts'
import type { Format, RowsFile } from './format.ts'
import { findSchemaMismatch } from './parquet-schema.ts'

/** Parquet (CONTRACT section 3.3), written by DuckDB. */
export const PARQUET: Format = {
  title: 'Parquet',
  compressions: ['zstd', 'snappy', 'gzip', 'none'],
  extension: () => 'parquet',
  escapesFormulas: false,
  isTyped: true,
  // Without hive_partitioning = false, folders named key=value would add columns.
  sourceSql: ({ paths }) => `read_parquet(${pathList(paths)}, hive_partitioning = false)`,
  findColumnMismatch: findSchemaMismatch,
  ...duckDbWriter('Parquet', copyStatement),
}

/** Version 1 pages, dictionaries, statistics, and row groups of about 100,000 rows. */
function copyStatement(select: string, { path, table, compression, size }: RowsFile): string {
  const codec = compression === 'none' ? 'uncompressed' : compression
  const ids = [...fieldIds(table.columns)].map(([name, id]) => `${quoteIdentifier(name)}: ${id}`)
  const options = `format parquet, compression ${codec}, parquet_version v1, row_group_size ${rowGroupRows(size)}, field_ids {${ids.join(', ')}}`
  return `copy (${select}) to ${quoteLiteral(path)} (${options})`
}

/** DuckDB holds a row group in memory: about 100,000 rows, fewer if rows are long (metadata of untrusted tokens). */
function rowGroupRows({ rows, bytes }: RowsFile['size']): number {
  const fittingRows = Math.floor(ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows)))
  return Math.max(2_048, Math.min(100_000, fittingRows))
}

const ROW_GROUP_BYTES = 90_000_000
