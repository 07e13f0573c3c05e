import type { TableName } from '../../../src/core/table/index.ts'
import type { Quirk } from '../../../src/demo-server/quirks.ts'

/** What an export may show of a quirk. Everything else must be as without it. */
export type QuirkEffect = {
  /** Whether rows may differ in what is named below, or only the items in `raw/`. */
  changes: 'rows' | 'raw' | 'nothing'
  /** Columns that may have other values. */
  columns?: Partial<Record<TableName, readonly string[]>>
  /** Tables that may have more rows, with the columns in which the same rows may differ. */
  adds?: Partial<Record<TableName, readonly string[]>>
}

/** A new quirk needs an entry here to be part of the matrix. */
export const QUIRK_EFFECTS = {
  'fee-cap': { changes: 'rows', columns: { transactions: ['gas_price'] } },
  'top-level-call': {
    changes: 'rows',
    columns: { wallet_transactions: ['internal_transactions'], ledger: ['entry_id'] },
    adds: { internal_transactions: ['internal_id'] },
  },
  'zero-milliseconds': { changes: 'raw' },
  'offset-tokens': { changes: 'nothing' },
  'small-pages': { changes: 'nothing' },
  // Shown only by jobs that do not read the listing of internal transactions; see `gapsOf`.
  'no-internal-receipts': { changes: 'rows' },
  // The export to compare with has them too.
  'atomic-transfers': { changes: 'nothing' },
} as const satisfies Partial<Record<Quirk, QuirkEffect>>
