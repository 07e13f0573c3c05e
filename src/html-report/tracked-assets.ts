import { type AssetTally, type BalanceSeries, tallyKey } from './ledger-aggregates.ts'
import type { Figures } from './ledger-stats.ts'
import { coinOf } from './view.ts'

/** An asset whose balances are kept over time. */
export type FollowedAsset = {
  key: string
  name: string
  tally: AssetTally | undefined
  decimals: number | null
  /** Those that moved it most first. */
  wallets: FollowedBalance[]
}

export type FollowedBalance = BalanceSeries & {
  /** What the wallet had before the first row, where the user gave it. */
  before: bigint
  /** Exact, in the end. */
  end: bigint
  wasBelowZero: boolean
}

/** The coin first, then by movements. */
export function followedBalances(figures: Figures): FollowedAsset[] {
  const { tally, balances } = figures
  const keyOf = (one: { wallet_address: string; asset_type: string; asset_address: string | null }) =>
    `${one.wallet_address} ${tallyKey(one.asset_type, one.asset_address)}`
  const ends = new Map(balances.balances.map((one) => [keyOf(one), one.value]))
  const below = new Set(balances.belowZero.map(keyOf))
  const assets = new Map<string, FollowedBalance[]>()
  for (const [key, one] of tally.balances) {
    const end = ends.get(key) ?? one.value
    const balance = { ...one, end, before: end - one.value, wasBelowZero: below.has(key) }
    const wallets = assets.get(one.asset)
    if (wallets === undefined) assets.set(one.asset, [balance])
    else wallets.push(balance)
  }
  const movements = (key: string) =>
    key === 'native' ? Number.POSITIVE_INFINITY : (tally.assets.get(key)?.movements ?? 0)
  return [...assets]
    .sort(([a], [b]) => movements(b) - movements(a) || (a < b ? -1 : 1))
    .map(([key, wallets]) => assetOf(figures, key, wallets))
}

function assetOf(figures: Figures, key: string, wallets: FollowedBalance[]): FollowedAsset {
  const tally = figures.tally.assets.get(key)
  return {
    ...{ key, tally, decimals: tally?.decimals ?? null },
    name: key === 'native' ? coinOf(figures) : `${tally?.symbol ?? ''} ${key.slice(0, 10)}`.trim(),
    wallets: wallets.sort((a, b) => b.series.size - a.series.size || (a.wallet < b.wallet ? -1 : 1)),
  }
}
