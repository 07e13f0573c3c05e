import { type AssetAggregates, aggregateKey, type BalanceSeries } from './ledger-aggregates.ts'
import type { LedgerStats } from './ledger-stats.ts'
import { coinOf } from './view.ts'

/** An asset whose balances are kept over time. */
export type TrackedAsset = {
  key: string
  name: string
  aggregates: AssetAggregates | undefined
  decimals: number | null
  /** Those that moved it most first. */
  wallets: TrackedAssetBalance[]
}

export type TrackedAssetBalance = BalanceSeries & {
  /** What the wallet had before the first row, where the user gave it. */
  openingBalance: bigint
  /** Exact, in the end. */
  closingBalance: bigint
  wasNegative: boolean
}

/** The coin first, then by movements. */
export function trackedBalances(stats: LedgerStats): TrackedAsset[] {
  const { aggregates, balances } = stats
  const keyOf = (one: { wallet_address: string; asset_type: string; asset_address: string | null }) =>
    `${one.wallet_address} ${aggregateKey(one.asset_type, one.asset_address)}`
  const closingBalances = new Map(balances.balances.map((one) => [keyOf(one), one.value]))
  const negative = new Set(balances.belowZero.map(keyOf))
  const assets = new Map<string, TrackedAssetBalance[]>()
  for (const [key, one] of aggregates.balances) {
    const closingBalance = closingBalances.get(key) ?? one.value
    const balance = {
      ...one,
      closingBalance,
      openingBalance: closingBalance - one.value,
      wasNegative: negative.has(key),
    }
    const wallets = assets.get(one.asset)
    if (wallets === undefined) assets.set(one.asset, [balance])
    else wallets.push(balance)
  }
  const movements = (key: string) =>
    key === 'native' ? Number.POSITIVE_INFINITY : (aggregates.assets.get(key)?.movements ?? 0)
  return [...assets]
    .sort(([a], [b]) => movements(b) - movements(a) || (a < b ? -1 : 1))
    .map(([key, wallets]) => assetOf(stats, key, wallets))
}

function assetOf(stats: LedgerStats, key: string, wallets: TrackedAssetBalance[]): TrackedAsset {
  const aggregates = stats.aggregates.assets.get(key)
  return {
    ...{ key, aggregates, decimals: aggregates?.decimals ?? null },
    name: key === 'native' ? coinOf(stats) : `${aggregates?.symbol ?? ''} ${key.slice(0, 10)}`.trim(),
    wallets: wallets.sort((a, b) => b.series.size - a.series.size || (a.wallet < b.wallet ? -1 : 1)),
  }
}
