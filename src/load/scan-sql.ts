import type { Column, Table } from '../core/table/index.ts'
import type { LocalFile } from './target.ts'

export type ScanOptions = {
  /** Take away the `'` that the export put before text which a spreadsheet would run. */
  readonly unescapeFormulas: boolean
  /** What becomes of values that the reader of these rows cannot take as DuckDB has them. @default as they are */
  readonly forms?: Forms
}

export type Forms = {
  /** U+0000 in text becomes U+FFFD. */
  readonly replaceNul?: boolean
  /** Times as text such as 2023-11-14T22:46:40.000Z. */
  readonly timeAsText?: boolean
  /** 1 and 0 for true and false. */
  readonly boolAsNumber?: boolean
}

/** SQL of DuckDB that reads a file's rows, each column with its type, in the table's order. */
export function scanSql(file: LocalFile, { unescapeFormulas, forms = {} }: ScanOptions): string {
  const unescapes = unescapeFormulas && file.format === 'csv'
  const cells = file.table.columns.map(
    (column) => `${cellSql(column, { unescapes, forms })} AS "${column.name}"`,
  )
  return `SELECT ${cells.join(', ')} FROM ${sourceSql(file)}`
}

/** SQL of DuckDB for the chain ids that a file's rows carry, as they are in the file. */
export function chainIdsSql(file: LocalFile): string {
  return `SELECT DISTINCT chain_id FROM ${sourceSql(file)} ORDER BY 1`
}

function cellSql({ name, type }: Column, { unescapes, forms }: { unescapes: boolean; forms: Forms }): string {
  const cell = `"${name}"`
  if (type === 'time' && forms.timeAsText) {
    return `strftime(make_timestamp(epoch_us(${cell})), '%Y-%m-%dT%H:%M:%S.%gZ')`
  }
  if (type === 'bool' && forms.boolAsNumber) return `CAST(${cell} AS INTEGER)`
  if (type !== 'text') return cell
  const text = unescapes ? unescapedSql(cell) : cell
  return forms.replaceNul ? `replace(${text}, chr(0), chr(65533))` : text
}

/** One `'` less where a formula comes after it, or after further ones: text that began with `'=` has one more in the file. */
function unescapedSql(cell: string): string {
  const isEscaped = `starts_with(${cell}, '''') AND left(ltrim(${cell}, ''''), 1) IN ('=', '+', '-', '@', chr(9), chr(13))`
  return `CASE WHEN ${isEscaped} THEN substr(${cell}, 2) ELSE ${cell} END`
}

/** Types of DuckDB: left to itself it would read amounts as floating point. */
const TYPES = { int32: 'INTEGER', int64: 'BIGINT', bool: 'BOOLEAN', time: 'TIMESTAMPTZ' } as const
const typeOf = ({ type }: Column) => (type in TYPES ? TYPES[type as keyof typeof TYPES] : 'VARCHAR')

/** Longest row of a CSV file that can be read, in bytes: metadata may hold whole pictures. */
const LONGEST_ROW = 16 * 1024 * 1024

function sourceSql({ path, table, format }: LocalFile): string {
  if (format === 'parquet') return `read_parquet(${pathLiteral(path)}, hive_partitioning = false)`
  const columns = table.columns.map((column) => `"${column.name}": '${typeOf(column)}'`).join(', ')
  const options = [
    'header = true, auto_detect = false, strict_mode = true',
    `delim = ',', quote = '"', escape = '"', new_line = '\\n'`,
    `nullstr = '', allow_quoted_nulls = false`,
    `max_line_size = ${LONGEST_ROW}, buffer_size = ${2 * LONGEST_ROW}, parallel = false`,
    `compression = '${path.endsWith('.gz') ? 'gzip' : 'none'}'`,
    `columns = {${columns}}, hive_partitioning = false`,
  ]
  return `read_csv(${pathLiteral(path)}, ${options.join(', ')})`
}

/** A path that stands for itself: letters that begin a pattern are made a class of one. */
function pathLiteral(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'))
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The header that a CSV file of this table has. */
export function headerOf({ columns }: Table): string {
  return columns.map(({ name }) => name).join(',')
}
