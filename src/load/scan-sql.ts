import { isoTimeSql, sourceSql, typedColumns, unescapedSql } from '../core/duckdb/source-sql.ts'
import type { Column, Table } from '../core/table/index.ts'
import type { LocalFile } from './target.ts'

export type ScanOptions = {
  /** Take away the `'` that the export put before text which a spreadsheet would run. */
  readonly unescapeFormulas: boolean
  /** What becomes of values that the reader of these rows cannot take as DuckDB has them. @default as they are */
  readonly formats?: CellFormats
}

export type CellFormats = {
  /** U+0000 in text becomes U+FFFD. */
  readonly replaceNul?: boolean
  /** Times as text such as 2023-11-14T22:46:40.000Z. */
  readonly timeAsText?: boolean
  /** 1 and 0 for true and false. */
  readonly boolAsNumber?: boolean
}

/** SQL of DuckDB that reads a file's rows, each column with its type, in the table's order. */
export function scanSql(file: LocalFile, { unescapeFormulas, formats = {} }: ScanOptions): string {
  const unescapes = unescapeFormulas && file.format === 'csv'
  const cells = file.table.columns.map(
    (column) => `${cellSql(column, { unescapes, formats })} AS "${column.name}"`,
  )
  return `SELECT ${cells.join(', ')} FROM ${sourceOf(file)}`
}

/** SQL of DuckDB for the chain ids that a file's rows carry, as they are in the file. */
export function chainIdsSql(file: LocalFile): string {
  return `SELECT DISTINCT chain_id FROM ${sourceOf(file)} ORDER BY 1`
}

function cellSql(
  { name, type }: Column,
  { unescapes, formats }: { unescapes: boolean; formats: CellFormats },
): string {
  const cell = `"${name}"`
  if (type === 'time' && formats.timeAsText) return isoTimeSql(cell)
  if (type === 'bool' && formats.boolAsNumber) return `CAST(${cell} AS INTEGER)`
  if (type !== 'text') return cell
  const text = unescapes ? unescapedSql(cell) : cell
  return formats.replaceNul ? `replace(${text}, chr(0), chr(65533))` : text
}

function sourceOf({ readable, table }: LocalFile): string {
  return sourceSql(readable, typedColumns(table.columns))
}

/** The header that a CSV file of this table has. */
export function headerOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(',')
}
