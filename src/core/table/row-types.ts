import type { Column, PREFIX } from './column.ts'
import type {
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  transactions,
} from './facts.ts'
import type { ledger, walletTransactions } from './wallets.ts'

type Declared = {
  transactions: (typeof transactions)['columns'][number]
  erc20_transfers: (typeof erc20Transfers)['columns'][number]
  erc721_transfers: (typeof erc721Transfers)['columns'][number]
  erc1155_transfers: (typeof erc1155Transfers)['columns'][number]
  internal_transactions: (typeof internalTransactions)['columns'][number]
  wallet_transactions: (typeof walletTransactions)['columns'][number]
  ledger: (typeof ledger)['columns'][number]
}

/** The cells that all rows of a transaction begin with, by column. */
export type Prefix = RowOf<(typeof PREFIX)[number], CellTypes>

/**
 * The other cells of a table's row, by column: an `int64` is a number where that is exact, else its digits; a `time` is in
 * milliseconds since 1970; `u256`, `i256` and `decimal` are exact text. Null where the column may be null.
 */
export type Cells<T extends keyof Declared> = Omit<RowOf<Declared[T], CellTypes>, keyof Prefix>

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
 * A row of each table as a library's user gets it, by the table's name: `int32` is a number, `int64` a bigint, `time` a
 * Date; `u256`, `i256` and `decimal` are exact text. Null where the column may be null. Derived from the table of columns.
 */
export type TableRows = {
  [T in keyof Declared]: RowOf<Declared[T], Omit<CellTypes, 'int64' | 'time'> & { int64: bigint; time: Date }>
}

type RowOf<C extends Column, Types> = {
  [One in C as One['name']]: Types[One['type'] & keyof Types] | (One['nullable'] extends true ? null : never)
}
