import type { Compression } from '../core/model/model.ts'
import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import {
  type Column,
  type ColumnType,
  type DecimalColumn,
  decimalColumnsOf,
  fieldIds,
} from '../core/table/index.ts'
import { pathList } from './column-sql.ts'
import { duckDbWriter } from './duckdb-writer.ts'
import type { ColumnMismatch, Format, RowsFile, SqlQuery } from './format.ts'

/** Parquet (CONTRACT section 3.3), written by DuckDB. */
export const PARQUET: Format = {
  title: 'Parquet',
  compressions: ['zstd', 'snappy', 'gzip', 'none'],
  extension: () => 'parquet',
  escapesFormulas: false,
  isTyped: true,
  isIcebergFile: true,
  // Without hive_partitioning = false, folders named key=value would add columns.
  sourceSql: ({ paths }) => `read_parquet(${pathList(paths)}, hive_partitioning = false)`,
  findColumnMismatch: findSchemaMismatch,
  ...duckDbWriter('Parquet', copyStatement),
}

/** Version 1 pages, dictionaries, statistics, and row groups of about 100,000 rows. */
function copyStatement(select: string, { path, table, compression, numbers, size }: RowsFile): string {
  const decimals = decimalColumnsOf(table, numbers)
  const decimalIds = decimals.map(({ name, id }) => [name, id] as const)
  const ids = [...fieldIds(table.columns), ...decimalIds].map(
    ([name, id]) => `${quoteIdentifier(name)}: ${id}`,
  )
  const options = `format parquet, compression ${CODECS[compression]}, parquet_version v1, row_group_size ${rowGroupRows(size)}, field_ids {${ids.join(', ')}}`
  const rows =
    decimals.length === 0 ? select : `select *, ${decimals.map(decimalSql).join(', ')} from (${select})`
  return `copy (${rows}) to ${quoteLiteral(path)} (${options})`
}

/** Level 1 of zstd takes half as long as DuckDB's default, 3; files are 3 % smaller or larger. */
const CODECS: Readonly<Record<Compression, string>> = {
  zstd: 'zstd, compression_level 1',
  snappy: 'snappy',
  gzip: 'gzip',
  none: 'uncompressed',
}

/** SQL for the number of a text, null if it does not fit. A plain cast would round digits after the point. */
function decimalSql({ name, of, precision, scale }: DecimalColumn): string {
  const text = quoteIdentifier(of)
  const cast = `TRY_CAST(${text} AS DECIMAL(${precision}, ${scale}))`
  return `CASE WHEN length(split_part(${text}, '.', 2)) <= ${scale} THEN ${cast} END AS ${quoteIdentifier(name)}`
}

/** DuckDB holds a row group in memory: about 100,000 rows, fewer if rows are long (metadata of untrusted tokens). */
function rowGroupRows({ rows, bytes }: RowsFile['size']): number {
  const fittingRows = Math.floor(ROW_GROUP_BYTES / Math.max(1, bytes / Math.max(1, rows)))
  return Math.max(2_048, Math.min(100_000, fittingRows))
}

const ROW_GROUP_BYTES = 90_000_000

/** Finds the first column of a Parquet file whose name, position or physical type differs from the contract. */
async function findSchemaMismatch(
  {
    path,
    columns,
    decimals = [],
  }: { path: string; columns: readonly Column[]; decimals?: readonly DecimalColumn[] },
  query: SqlQuery,
): Promise<ColumnMismatch | undefined> {
  const schema = await query(
    `SELECT name, type, converted_type, logical_type, precision, scale FROM parquet_schema(${quoteLiteral(path)})`,
  )
  const found = schema.slice(1).map((column) => `${column.name} ${typeOf(column)}`)
  const expected = [
    ...columns.map((column) => `${column.name} ${PHYSICAL[column.type]}`),
    ...decimals.map(({ name, precision, scale }) => `${name} DECIMAL(${precision}, ${scale})`),
  ]
  const at = expected.findIndex((column, index) => column !== found[index])
  if (at < 0 && found.length === expected.length) return undefined
  const first = at >= 0 ? at : expected.length
  return { field: `column ${first + 1}`, expected: expected[first], found: found[first] }
}

const PHYSICAL: Readonly<Record<ColumnType, string>> = {
  text: 'UTF8',
  int32: 'INT32',
  int64: 'INT64',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP adjusted to UTC',
  u256: 'UTF8',
  i256: 'UTF8',
  decimal: 'UTF8',
}

function typeOf({
  type,
  converted_type: converted,
  logical_type: logical,
  precision,
  scale,
}: Readonly<Record<string, unknown>>): string {
  const logicalType = String(logical ?? '')
  if (logicalType.startsWith('TimestampType')) {
    return logicalType.includes('isAdjustedToUTC=1') ? 'TIMESTAMP adjusted to UTC' : 'TIMESTAMP without zone'
  }
  if (converted === 'DECIMAL' || logicalType.startsWith('DecimalType'))
    return `DECIMAL(${precision}, ${scale})`
  if (type === 'BYTE_ARRAY' && (converted === 'UTF8' || logicalType.startsWith('StringType'))) return 'UTF8'
  if (type === 'INT32' && (converted === null || converted === 'INT_32')) return 'INT32'
  if (type === 'INT64' && (converted === null || converted === 'INT_64')) return 'INT64'
  if (type === 'INT64' && String(converted).startsWith('TIMESTAMP')) return 'TIMESTAMP adjusted to UTC'
  return [type, converted ?? logical].filter((part) => part !== null).join(' ')
}
