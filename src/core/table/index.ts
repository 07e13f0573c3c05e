import type { Table, TableName } from './column.ts'
import {
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  transactions,
} from './fact-tables.ts'
import { ledger, walletTransactions } from './wallet-tables.ts'

/** All tables, in the order used by files, the manifest and the help. */
export const TABLES: readonly Table[] = [
  transactions,
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  walletTransactions,
  ledger,
]

export const TABLE_NAMES: readonly TableName[] = TABLES.map((table) => table.name)

export type { Cell, Column, ColumnType, Table, TableName } from './column.ts'
export type { Cells, Prefix, TableRows, TextRows } from './row-types.ts'

/** The table with this name. */
export function tableByName(name: TableName): Table {
  const found = TABLES.find((table) => table.name === name)
  if (found === undefined) throw new RangeError(`no table ${name}`)
  return found
}
