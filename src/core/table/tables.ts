import type { TableDeclaration } from './column.ts'
import {
  atomicTransactions,
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  transactions,
} from './fact-tables.ts'
import { ledger, walletTransactions } from './wallet-tables.ts'

/** To add a table, declare it and list it here: names and row types derive from the list. */
const DECLARED = [
  transactions,
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  atomicTransactions,
  walletTransactions,
  ledger,
] as const

/** The declared type of each table, for types that derive from its columns. */
export type DeclaredTable = (typeof DECLARED)[number]

export type TableName = DeclaredTable['name']

export type Table = TableDeclaration & { readonly name: TableName }

/** The table that only jobs with `atomic: true` have. */
export const ATOMIC_TABLE = atomicTransactions.name

/** All tables, in the order used by files, the manifest and the help. */
export const TABLES: readonly Table[] = DECLARED
