import type { TableName } from '../../../src/core/table/index.ts'
import type { Quirk } from '../../../src/demo-server/quirks.ts'

/** What an export may show of a quirk. Everything else must be as without it. */
export type QuirkEffect = {
  /** Whether listings show other items, so that files may differ where rows may. */
  changesItems: boolean
  /** Columns that may have other values. */
  columns?: Partial<Record<TableName, readonly string[]>>
  /** Tables that may have more rows, with the columns in which the same rows may differ. */
  adds?: Partial<Record<TableName, readonly string[]>>
}

/** A new quirk needs an entry here to be part of the matrix. */
export const QUIRK_EFFECTS = {
  'fee-cap': { changesItems: true, columns: { transactions: ['gas_price'] } },
  'top-level-call': {
    changesItems: true,
    columns: { wallet_transactions: ['internal_transactions'], ledger: ['entry_id'] },
    adds: { internal_transactions: ['internal_id'] },
  },
  'zero-milliseconds': { changesItems: true },
  'offset-tokens': { changesItems: false },
  'small-pages': { changesItems: false },
} as const satisfies Partial<Record<Quirk, QuirkEffect>>

/** Columns that may also differ where fees are upper bounds, because the listing shows fee caps. */
export const FEE_COLUMNS: Partial<Record<TableName, readonly string[]>> = {
  transactions: ['gas_price', 'effective_gas_price', 'transaction_fee'],
}
