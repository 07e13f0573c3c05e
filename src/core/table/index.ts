import { ATOMIC_TABLE, TABLES, type Table, type TableName } from './tables.ts'

export const TABLE_NAMES: readonly TableName[] = TABLES.map((table) => table.name)

/** The tables of a job that does not list its tables and does not read atomic transactions. */
export const DEFAULT_TABLES: readonly TableName[] = TABLE_NAMES.filter((name) => name !== ATOMIC_TABLE)

export { type Cell, type Column, type ColumnType, fieldIds } from './column.ts'
export { type DecimalColumn, decimalColumnsOf } from './decimal-columns.ts'
export type { Cells, Prefix, TableRows, TextRows } from './row-types.ts'
export { ATOMIC_TABLE, TABLES, type Table, type TableName } from './tables.ts'

/** The table with this name. */
export function tableByName(name: TableName): Table {
  const definition = TABLES.find((table) => table.name === name)
  if (definition === undefined) throw new RangeError(`no table ${name}`)
  return definition
}
