/** What a report's page holds for its script, as JSON. */

/** A column of rows whose texts come again and again: each once, and which of them stands in which row. */
export type PackedColumn = { texts: string[]; indexes: number[] }

/** What a wallet had of an asset at the end of each day on which it changed: place of the day and exact value, in turn. */
export type ComparisonWallet = { name: string; openingBalance: string; points: (number | string)[] }

/** What dates are compared with. */
export type ComparisonData = {
  /** Days (2023-11-14, UTC) at whose end the balances are known, in order. */
  days: string[]
  assets: { name: string; decimals: number | null; wallets: ComparisonWallet[] }[]
}
