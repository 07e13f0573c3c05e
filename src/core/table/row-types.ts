import type { Column, PREFIX } from './column.ts'
import type { DeclaredTable, TableName } from './tables.ts'

/** The columns of a table, with their literal names and types. */
type ColumnsOf<T extends TableName> = Extract<DeclaredTable, { name: T }>['columns'][number]

/** The first cells of a row, by column; they are the same in all rows of a transaction. */
export type Prefix = RowOf<(typeof PREFIX)[number], CellTypes>

/**
 * The remaining cells of a table's row, by column. An `int64` is a number if that is exact and decimal digits
 * otherwise; a `time` is in milliseconds since 1970; `u256`, `i256` and `decimal` are exact text. Null only
 * in nullable columns.
 */
export type Cells<T extends TableName> = Omit<RowOf<ColumnsOf<T>, CellTypes>, keyof Prefix>

type CellTypes = {
  text: string
  int32: number
  int64: number | string
  bool: boolean
  time: number
  u256: string
  i256: string
  decimal: string
}

/**
 * The row type of each table, by the table's name, as `rows()` yields it: `int32` is a number, `int64` a
 * bigint and `time` a Date; `u256`, `i256` and `decimal` are exact text. Null only in nullable columns.
 * Derived from the column declarations.
 *
 * @example
 * ```ts
 * const row: TableRows['ledger'] = …
 * const wei = BigInt(row.value)
 * ```
 */
export type TableRows = {
  [T in TableName]: RowOf<ColumnsOf<T>, Omit<CellTypes, 'int64' | 'time'> & { int64: bigint; time: Date }>
}

/** The rows of each table as text, in the notation of CSV cells without quotes and escapes. Null only in nullable columns. */
export type TextRows = { [T in TableName]: RowOf<ColumnsOf<T>, Record<Column['type'], string>> }

type RowOf<C extends Column, Types> = {
  [One in C as One['name']]: Types[One['type'] & keyof Types] | (One['nullable'] extends true ? null : never)
}
