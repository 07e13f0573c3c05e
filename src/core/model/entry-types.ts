/** What follows from the entry type of a ledger row. */
type EntryRules = {
  /** Which party of the movement has the row, if it is a wallet of the job. */
  rowOf: 'either' | 'sender' | 'receiver'
  /**
   * What the row counts as in conversions, statements and reports. `transfer` is a received or sent amount, or one between
   * own wallets. `wrap` is the token side of wrapping: no wallet has a row for the other side, because contracts mint and burn
   * wrapped coins.
   */
  countsAs: 'transfer' | 'mint' | 'burn' | 'fee' | 'own' | 'wrap' | 'opening'
  /** Whether its transaction can be a swap. In wraps, imports and exports the coin stays the wallet's own. */
  allowsSwap: boolean
}

/**
 * The entry types, in the order of the documentation. The ledger, conversions, statements and reports derive from this
 * table; `verify` has rules of its own, because it checks independently.
 */
export const ENTRY_TYPES = {
  transfer: { rowOf: 'either', countsAs: 'transfer', allowsSwap: true },
  /** From the zero address. */
  mint: { rowOf: 'either', countsAs: 'mint', allowsSwap: true },
  /** To the zero address. */
  burn: { rowOf: 'either', countsAs: 'burn', allowsSwap: true },
  /** The native coin, from the table of transactions. */
  fee: { rowOf: 'sender', countsAs: 'fee', allowsSwap: true },
  /** To the wallet itself: two rows. */
  self: { rowOf: 'either', countsAs: 'own', allowsSwap: false },
  /** The token of a wrapped native coin, with the source of the coin's row; so for unwrapping. */
  wrap: { rowOf: 'receiver', countsAs: 'wrap', allowsSwap: false },
  unwrap: { rowOf: 'sender', countsAs: 'wrap', allowsSwap: false },
  /** The native coin, from the table of atomic transactions. */
  import: { rowOf: 'receiver', countsAs: 'transfer', allowsSwap: false },
  export: { rowOf: 'sender', countsAs: 'transfer', allowsSwap: false },
  /** What a wallet held before its first row. Only conversions have it; the ledger does not. */
  opening: { rowOf: 'either', countsAs: 'opening', allowsSwap: false },
  /** Lines of the user's file of adjustments, of which the ledger has none: income, and everything else. */
  declared_income: { rowOf: 'receiver', countsAs: 'transfer', allowsSwap: false },
  declared: { rowOf: 'either', countsAs: 'transfer', allowsSwap: false },
} as const satisfies Readonly<Record<string, EntryRules>>

export type EntryType = keyof typeof ENTRY_TYPES

/** Values of the column `entry_type` of the ledger. */
export const LEDGER_ENTRY_TYPES = Object.keys(ENTRY_TYPES).filter(
  (type) => type !== 'opening' && !type.startsWith('declared'),
)

const RULES: ReadonlyMap<string, EntryRules> = new Map(Object.entries(ENTRY_TYPES))
const UNKNOWN: EntryRules = { rowOf: 'either', countsAs: 'transfer', allowsSwap: false }

/** The rules of a row's entry type. One that this version does not have counts as a transfer that is no part of a swap. */
export const entryRulesOf = (type: string): EntryRules => RULES.get(type) ?? UNKNOWN
