import { type AssetAggregates, aggregateKey, type BalanceSeries } from './ledger-aggregates.ts'
import type { LedgerStats } from './ledger-stats.ts'
import { coinOf } from './view.ts'

/** An asset whose balances are tracked over time. */
export type TrackedAsset = {
  key: string
  name: string
  aggregates: AssetAggregates | undefined
  decimals: number | null
  /** Sorted by the number of buckets with movements, most first. */
  wallets: TrackedAssetBalance[]
}

export type TrackedAssetBalance = BalanceSeries & {
  /** What the wallet held before the first row; 0 unless the user gave an opening balance. */
  openingBalance: bigint
  /** Exact balance after the last row, opening balance included. */
  closingBalance: bigint
  wasNegative: boolean
}

/** Returns the tracked assets: the native coin first, then by number of movements. */
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
