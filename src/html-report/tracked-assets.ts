import type { Balance } from '../ledger/balances/balances.ts'
import { balanceKey } from './fiat-values.ts'
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

/** A wallet's balance. Wallets that have only an opening balance have an empty series. */
export type TrackedAssetBalance = Pick<BalanceSeries, 'wallet' | 'series'> & {
  /** What the wallet held before the first row; 0 unless the user gave an opening balance. */
  openingBalance: bigint
  /** Exact balance after the last row, opening balance included. */
  closingBalance: bigint
  wasNegative: boolean
}

/** Returns the tracked assets: the native coin first, then by number of movements. */
export function trackedBalances(stats: LedgerStats): TrackedAsset[] {
  const { aggregates, balances } = stats
  const assetKeyOf = ({ asset_type, asset_address }: Balance) => aggregateKey(asset_type, asset_address)
  const keyOf = (one: Balance) => balanceKey(one.wallet_address, assetKeyOf(one))
  const negative = new Set(balances.belowZero.map(keyOf))
  const assets = new Map<string, TrackedAssetBalance[]>()
  for (const one of balances.balances) {
    const [asset, key] = [assetKeyOf(one), keyOf(one)]
    if (!aggregates.trackedAssets.has(asset)) continue
    const { series = new Map(), value: change = 0n } = aggregates.balances.get(key) ?? {}
    const balance = {
      wallet: one.wallet_address,
      series,
      wasNegative: negative.has(key),
      closingBalance: one.value,
      openingBalance: one.value - change,
    }
    const wallets = assets.get(asset)
    if (wallets === undefined) assets.set(asset, [balance])
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
    key,
    aggregates,
    decimals: aggregates?.decimals ?? null,
    name: key === 'native' ? coinOf(stats) : `${aggregates?.symbol ?? ''} ${key.slice(0, 10)}`.trim(),
    wallets: wallets.sort((a, b) => b.series.size - a.series.size || (a.wallet < b.wallet ? -1 : 1)),
  }
}

/** The balance of an asset in some wallets together at the end of each of `dayEnds.days()`, opening balances included. */
export function balancesAtDays({ aggregates: { dayEnds } }: LedgerStats, asset: WalletsOfAsset): bigint[] {
  const days = dayEnds.days()
  const indexes = new Map(days.map((day, at) => [day, at]))
  const changes = days.map(() => 0n)
  for (const { wallet } of asset.wallets) {
    let before = 0n
    const series = dayEnds.series.get(balanceKey(wallet, asset.key)) ?? new Map<string, bigint>()
    for (const [day, sum] of [...series].sort(([a], [b]) => (a < b ? -1 : 1))) {
      // The last period may end after the last movement.
      const at = indexes.get(day) ?? days.length - 1
      changes[at] = (changes[at] ?? 0n) + sum - before
      before = sum
    }
  }
  let balance = asset.wallets.reduce((sum, { openingBalance }) => sum + openingBalance, 0n)
  return changes.map((change) => {
    balance += change
    return balance
  })
}

type WalletsOfAsset = Pick<TrackedAsset, 'key' | 'wallets'>
