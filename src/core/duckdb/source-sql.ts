import { quoteIdentifier, quoteLiteral } from '../platform/sql.ts'
import type { Column, ColumnType } from '../table/index.ts'
import type { DataFile } from './data-file.ts'

export type SqlColumn = { name: string; type: string }

/**
 * DuckDB type of each column type. Exact numbers stay text; type inference would turn them into floating
 * point.
 */
export const DUCKDB_TYPES = {
  text: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP WITH TIME ZONE',
  u256: 'VARCHAR',
  i256: 'VARCHAR',
  decimal: 'VARCHAR',
} as const satisfies Record<ColumnType, string>

/** CSV columns with their types. */
export function typedColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name, type }) => ({ name, type: DUCKDB_TYPES[type] }))
}

/** CSV columns, all read as text. */
export function textColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name }) => ({ name, type: 'VARCHAR' }))
}

/**
 * SQL source of a file's rows, in file order. `columns` applies to CSV only; Parquet files declare their own.
 */
export function sourceSql(file: Omit<DataFile, 'close'>, columns: readonly SqlColumn[]): string {
  return file.format === 'parquet' ? parquetSource(file.paths) : csvSource(file, columns)
}

/** SQL source of Parquet files. Folders named key=value add no column. */
export function parquetSource(paths: readonly string[]): string {
  return `read_parquet(${pathList(paths)}, hive_partitioning = false)`
}

/**
 * SQL source of CSV files that walletlake wrote, without type detection: an empty field is null, quoted empty
 * text is not.
 */
export function csvSource(
  { paths, isGzipped, maxRowBytes }: Pick<DataFile, 'paths' | 'isGzipped' | 'maxRowBytes'>,
  columns: readonly SqlColumn[],
): string {
  const options = [
    'header = true, auto_detect = false, strict_mode = true, hive_partitioning = false',
    `delim = ',', quote = '"', escape = '"', comment = '', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false, compression = '${isGzipped ? 'gzip' : 'none'}'`,
    `max_line_size = ${maxRowBytes}, buffer_size = ${bufferFor(maxRowBytes)}, parallel = false`,
    `columns = {${columns.map(({ name, type }) => `${quoteIdentifier(name)}: '${type}'`).join(', ')}}`,
  ]
  return `read_csv(${pathList(paths)}, ${options.join(', ')})`
}

const MIB = 1024 * 1024

/**
 * Buffer size: two rows if that is cheap, one row plus 1 MiB for long rows, because DuckDB holds several
 * buffers.
 */
const bufferFor = (maxRowBytes: number) => Math.max(maxRowBytes + MIB, Math.min(2 * maxRowBytes, 32 * MIB))

/** SQL list of paths. Glob characters are escaped as one-character classes. */
function pathList(paths: readonly string[]): string {
  return `[${paths.map((path) => quoteLiteral(path.replace(/[*?[]/g, '[$&]'))).join(', ')}]`
}

/**
 * Removes the `'` that the writer put before a formula, or before `'` characters followed by a formula (see
 * `isFormula`).
 */
export function unescapedSql(cell: string): string {
  const isEscaped = `starts_with(${cell}, '''') AND left(ltrim(${cell}, ''''), 1) IN ('=', '+', '-', '@', chr(9), chr(13))`
  return `CASE WHEN ${isEscaped} THEN substr(${cell}, 2) ELSE ${cell} END`
}

/** Formats an instant as text such as 2023-11-14T22:46:40.000Z. */
export function isoTimeSql(cell: string): string {
  return `strftime(make_timestamp(epoch_us(${cell})), '%Y-%m-%dT%H:%M:%S.%gZ')`
}
