import type { Column, Table } from './column.ts'
import type {
  erc20Transfers,
  erc721Transfers,
  erc1155Transfers,
  internalTransactions,
  transactions,
} from './facts.ts'
import type { ledger, walletTransactions } from './wallets.ts'

/**
 * A row of each table as an object, by the table's name: `int32` is a number, `int64` a bigint, `time` a Date; `u256`,
 * `i256` and `decimal` are exact text. Null where the column may be null. Derived from the table of columns.
 */
export type TableRows = {
  transactions: RowOf<typeof transactions>
  erc20_transfers: RowOf<typeof erc20Transfers>
  erc721_transfers: RowOf<typeof erc721Transfers>
  erc1155_transfers: RowOf<typeof erc1155Transfers>
  internal_transactions: RowOf<typeof internalTransactions>
  wallet_transactions: RowOf<typeof walletTransactions>
  ledger: RowOf<typeof ledger>
}

type RowOf<T extends Table> = {
  [C in T['columns'][number] as C['name']]: Value<C>
}

type Value<C extends Column> = Values[C['type']] | (C['nullable'] extends true ? null : never)

type Values = {
  text: string
  int32: number
  int64: bigint
  bool: boolean
  time: Date
  u256: string
  i256: string
  decimal: string
}
