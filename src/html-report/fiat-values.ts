import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import type { Balance } from '../ledger/balances/balances.ts'
import { exactFiatValue, type PricedAsset, type Prices } from '../ledger/prices/prices.ts'
import type { FeeFiatValue } from './fee-fiat-value.ts'
import { aggregateKey, type LedgerAggregates } from './ledger-aggregates.ts'
import type { YearlySums } from './year-sums.ts'

/** Fiat values of balances and fees at the user's prices, in units of 10^-8 of the currency. */
export type FiatValues = {
  currency: string
  /** Time of the last movement, as written in the tables. Closing balances are valued at the prices of that time. */
  pricedAt: string
  /** Without suspicious tokens; null if other assets are held, but none has a price. */
  total: bigint | null
  /** Values by wallet, without suspicious tokens. Balances without a price are left out, here and below. */
  wallets: ReadonlyMap<string, bigint>
  /** Values by asset (`aggregateKey`), and by wallet and asset (`balanceKey`). */
  assets: ReadonlyMap<string, bigint>
  balances: ReadonlyMap<string, bigint>
  /**
   * Coins and tokens with a closing balance other than 0 in any wallet, and those of them without a price. Without
   * suspicious tokens.
   */
  heldAssets: ReadonlySet<string>
  unpricedAssets: ReadonlySet<string>
  fees: FeeFiatValue
}

/**
 * Sums values, of which null and undefined ones are unknown and do not count. The sum of unknown values, and of others that
 * are all zero, is unknown too.
 */
export function sumKnownValues(values: readonly (bigint | null | undefined)[]): bigint | null {
  const sum = values.reduce<bigint>((all, value) => all + (value ?? 0n), 0n)
  const isKnown = values.every((value) => value != null) || values.some((value) => value)
  return isKnown ? sum : null
}

/** Key of a wallet's balance of an asset in `FiatValues.balances`. */
export const balanceKey = (wallet: string, asset: string): string => `${wallet} ${asset}`

/**
 * Multiplies each closing balance by its price at the last movement and sums the results. A token without decimals counts
 * as unpriced. NFTs have no price.
 */
export function computeFiatValues(
  { balances: { balances }, suspicious }: Pick<YearlySums, 'balances' | 'suspicious'>,
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
    const isSuspicious = suspicious.has(asset.address ?? '')
    if (!isSuspicious) heldAssets.add(key)
    const fiatValue = fiatValueOfBalance(one, {
      price: prices.at(asset, aggregates.last),
      decimals: decimalsOf(asset, aggregates),
    })
    if (fiatValue === undefined) {
      if (!isSuspicious) unpricedAssets.add(key)
      continue
    }
    byBalance.set(balanceKey(one.wallet_address, key), fiatValue)
    addTo(sums.assets, key, fiatValue)
    if (isSuspicious) continue
    total += fiatValue
    addTo(sums.wallets, one.wallet_address, fiatValue)
  }
  return {
    currency: prices.currency,
    pricedAt: aggregates.last,
    total: heldAssets.size > 0 && sums.wallets.size === 0 ? null : total,
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
