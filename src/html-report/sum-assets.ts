import { type AssetAggregates, aggregateKey, byMovements } from './ledger-aggregates.ts'
import type { LedgerStats } from './ledger-stats.ts'

/** The movements of an asset, and what all wallets together held before and after them; `opening` + `in` - `out` = `closing`. */
export type AssetSums = AssetAggregates & { opening: bigint; closing: bigint }

/** Returns the assets that moved, or of which there is an opening balance, by number of movements. */
export function sumAssets({ aggregates, balances }: LedgerStats): AssetSums[] {
  const closing = new Map<string, bigint>()
  const assets = new Map(aggregates.assets)
  for (const { asset_type: type, asset_address: address, value, ...one } of balances.balances) {
    const key = aggregateKey(type, address)
    closing.set(key, (closing.get(key) ?? 0n) + value)
    if (assets.has(key) || value === 0n) continue
    const { asset_symbol: symbol, asset_decimals: decimals } = one
    assets.set(key, { address, type, symbol, decimals, movements: 0, in: 0n, out: 0n })
  }
  return [...assets]
    .map(([key, asset]) => {
      const end = closing.get(key) ?? 0n
      return { ...asset, opening: end - asset.in + asset.out, closing: end }
    })
    .sort(byMovements)
}
