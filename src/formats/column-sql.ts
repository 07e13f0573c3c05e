import { quoteIdentifier, quoteLiteral } from '../core/platform/sql.ts'
import type { Column, ColumnType } from '../core/table/index.ts'

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

/** Columns with their types. */
export function typedColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name, type }) => ({ name, type: DUCKDB_TYPES[type] }))
}

/** Columns, all read as text. */
export function textColumns(columns: readonly Column[]): SqlColumn[] {
  return columns.map(({ name }) => ({ name, type: 'VARCHAR' }))
}

/** SQL for a cell as the text that CSV files have for it. `isTyped`: the cell has the type of its column. */
export function textCellSql({ name, type }: Column, isTyped: boolean): string {
  const cell = quoteIdentifier(name)
  if (!isTyped) return cell
  return type === 'time' ? isoTimeSql(cell) : `${cell}::VARCHAR`
}

/** SQL list of paths. Glob characters are escaped as one-character classes. */
export function pathList(paths: readonly string[]): string {
  return `[${paths.map((path) => quoteLiteral(path.replace(/[*?[]/g, '[$&]'))).join(', ')}]`
}

/**
 * Removes the `'` that the writer put before a formula, or before `'` characters followed by a formula (see
 * `isFormula`).
 */
export function unescapedSql(cell: string): string {
  // Comparisons take half the time of starts_with; `(` follows `'`. A list of characters with IN would become a join.
  const isEscaped = `${cell} >= '''' AND ${cell} < '(' AND regexp_matches(${cell}, '^''+[-=+@\\t\\r]')`
  return `CASE WHEN ${isEscaped} THEN substr(${cell}, 2) ELSE ${cell} END`
}

/** Formats an instant as text such as 2023-11-14T22:46:40.000Z. */
export function isoTimeSql(cell: string): string {
  return `strftime(make_timestamp(epoch_us(${cell})), '%Y-%m-%dT%H:%M:%S.%gZ')`
}
