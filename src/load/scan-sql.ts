import type { Column } from '../core/table/index.ts'
import { isoTimeSql, typedColumns, unescapedSql } from '../formats/column-sql.ts'
import { FORMATS, sourceSql } from '../formats/index.ts'
import type { LocalFile } from './target.ts'

export type ScanOptions = {
  /** Remove the `'` that the export wrote before text that a spreadsheet would evaluate. */
  readonly unescapeFormulas: boolean
  /** Conversions for values that the target cannot store in DuckDB's form. @default none */
  readonly formats?: CellFormats
}

export type CellFormats = {
  /** Replace U+0000 in text by U+FFFD. */
  readonly replaceNul?: boolean
  /** Write times as text such as 2023-11-14T22:46:40.000Z. */
  readonly timeAsText?: boolean
  /** Write 1 and 0 for true and false. */
  readonly boolAsNumber?: boolean
}

/** DuckDB SQL that reads a file's rows with typed columns in the table's order. */
export function scanSql(file: LocalFile, { unescapeFormulas, formats = {} }: ScanOptions): string {
  const unescapes = unescapeFormulas && FORMATS[file.format].escapesFormulas
  const cells = file.table.columns.map(
    (column) => `${cellSql(column, { unescapes, formats })} AS "${column.name}"`,
  )
  return `SELECT ${cells.join(', ')} FROM ${sourceOf(file)}`
}

/** DuckDB SQL that reads the distinct chain ids of a file's rows. */
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
