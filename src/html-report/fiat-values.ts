import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import type { Balance, Balances } from '../ledger/balances/balances.ts'
import { exactFiatValue } from '../ledger/prices/fiat-value.ts'
import type { PricedAsset } from '../ledger/prices/priced-asset.ts'
import type { Prices } from '../ledger/prices/prices.ts'
import type { FeeFiatValue } from './fee-fiat-value.ts'
import { aggregateKey, type LedgerAggregates } from './ledger-aggregates.ts'

/** What balances and fees are worth by the user's prices, in 10^-8 of the currency. */
export type FiatValues = {
  currency: string
  /** When the last movement was, as the tables write it: what wallets have in the end is worth the prices then. */
  pricedAt: string
  total: bigint
  /** By wallet, by asset (as `tallyKey` names it), and by both; what has no price is in none. */
  wallets: ReadonlyMap<string, bigint>
  assets: ReadonlyMap<string, bigint>
  balances: ReadonlyMap<string, bigint>
  /** Coins and tokens that some wallet has in the end, and those of them without a price then. */
  heldAssets: ReadonlySet<string>
  unpricedAssets: ReadonlySet<string>
  fees: FeeFiatValue
}

/** What a wallet has of an asset, in `Worths.balances`. */
export const balanceKey = (wallet: string, asset: string): string => `${wallet} ${asset}`

/** Multiplies each balance with its price at the end, and adds up what that gives. NFTs have no price. */
export function computeFiatValues(
  { balances }: Balances,
  aggregates: LedgerAggregates,
  context: { prices: Prices; fees: FeeFiatValue },
): FiatValues {
  const { prices, fees } = context
  const sums = { wallets: new Map<string, bigint>(), assets: new Map<string, bigint>() }
  const [byBalance, heldAssets, unpricedAssets] = [
    new Map<string, bigint>(),
    new Set<string>(),
    new Set<string>(),
  ]
  let total = 0n
  for (const one of balances) {
    const asset = { type: one.asset_type, address: one.asset_address } as PricedAsset
    if (isNft(asset) || one.value === 0n) continue
    const key = aggregateKey(asset.type, asset.address)
    heldAssets.add(key)
    const fiatValue = fiatValueOfBalance(one, {
      price: prices.at(asset, aggregates.last),
      decimals: decimalsOf(asset, aggregates),
    })
    if (fiatValue === undefined) {
      unpricedAssets.add(key)
      continue
    }
    total += fiatValue
    byBalance.set(balanceKey(one.wallet_address, key), fiatValue)
    addTo(sums.wallets, one.wallet_address, fiatValue)
    addTo(sums.assets, key, fiatValue)
  }
  return {
    currency: prices.currency,
    pricedAt: aggregates.last,
    total,
    ...sums,
    balances: byBalance,
    heldAssets,
    unpricedAssets,
    fees,
  }
}

type PriceAndDecimals = { price: string | undefined; decimals: number | null }

function fiatValueOfBalance({ value }: Balance, { price, decimals }: PriceAndDecimals): bigint | undefined {
  return price === undefined || decimals === null ? undefined : exactFiatValue(value, decimals, price)
}

const decimalsOf = ({ type, address }: PricedAsset, { assets }: LedgerAggregates): number | null =>
  type === 'native' ? COIN_DECIMALS : (assets.get(aggregateKey(type, address))?.decimals ?? null)

function addTo(sums: Map<string, bigint>, key: string, fiatValue: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + fiatValue)
}
