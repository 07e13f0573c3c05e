import { quoteIdentifier, quoteLiteral } from '../platform/sql.ts'
import type { Column, ColumnType } from '../table/index.ts'
import type { DataFile } from './data-file.ts'

export type SqlColumn = { name: string; type: string }

/** DuckDB's type for each of ours. Exact numbers stay text: left to itself DuckDB would read them as floating point. */
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

/** Columns of CSV, each with its type. */
export function typedColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name, type }) => ({ name, type: DUCKDB_TYPES[type] }))
}

/** Columns of CSV, each cell as the text that it is. */
export function textColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name }) => ({ name, type: 'VARCHAR' }))
}

/** DuckDB's source of a file's rows, in order; the columns are those of CSV, Parquet has its own. */
export function sourceSql(file: Omit<DataFile, 'close'>, columns: readonly SqlColumn[]): string {
  return file.format === 'parquet' ? parquetSource(file.paths) : csvSource(file, columns)
}

/** Rows of Parquet files. A folder named key=value adds no column. */
export function parquetSource(paths: readonly string[]): string {
  return `read_parquet(${pathList(paths)}, hive_partitioning = false)`
}

/** Rows of our own CSV, without guessing: an empty field is null, quoted empty text is not. */
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

/** Two rows where that is cheap; of long ones one and a little, for DuckDB holds several buffers. */
const bufferFor = (maxRowBytes: number) => Math.max(maxRowBytes + MIB, Math.min(2 * maxRowBytes, 32 * MIB))

/** A list of paths that stand for themselves: letters that begin a pattern are made a class of one. */
function pathList(paths: readonly string[]): string {
  return `[${paths.map((path) => quoteLiteral(path.replace(/[*?[]/g, '[$&]'))).join(', ')}]`
}

/** One `'` less where a formula comes after it, or after further ones: text that began with `'=` has one more in the file. */
export function unescapedSql(cell: string): string {
  const isEscaped = `starts_with(${cell}, '''') AND left(ltrim(${cell}, ''''), 1) IN ('=', '+', '-', '@', chr(9), chr(13))`
  return `CASE WHEN ${isEscaped} THEN substr(${cell}, 2) ELSE ${cell} END`
}

/** An instant as text such as 2023-11-14T22:46:40.000Z. */
export function isoTimeSql(cell: string): string {
  return `strftime(make_timestamp(epoch_us(${cell})), '%Y-%m-%dT%H:%M:%S.%gZ')`
}
