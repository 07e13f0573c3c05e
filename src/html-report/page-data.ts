/** The JSON data that a report page contains for its script. */

/** A dictionary-encoded column: its distinct texts, and for each row the index of its text. */
export type PackedColumn = { texts: string[]; indexes: number[] }

/**
 * A wallet's balance of an asset at the end of each day on which it changed. `points` alternates between an index into
 * `ComparisonData.days` and the exact balance.
 */
export type ComparisonWallet = { name: string; openingBalance: string; points: (number | string)[] }

/** Balances for the comparison of two dates. */
export type ComparisonData = {
  /** Days (`2023-11-14`, UTC) at whose end the balances are known, in ascending order. */
  days: string[]
  assets: { name: string; decimals: number | null; wallets: ComparisonWallet[] }[]
}
