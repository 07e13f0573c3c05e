import { COIN_DECIMALS } from '../core/model/asset.ts'
import { exactFiatValue, type Prices } from '../ledger/prices/prices.ts'
import type { AggregatedRow } from './ledger-aggregates.ts'

/** Fiat value of fees when they were paid, in units of 10^-8 of the currency. */
export type FeeFiatValue = {
  /** null if no fee has a price. */
  total: bigint | null
  wallets: ReadonlyMap<string, bigint>
  /** Number of fees paid, and number of those without a price. */
  count: number
  unpriced: number
}

/**
 * Sums the fiat values of the fees among the rows passed to `add`. Each fee is rounded separately, as in the files of `convert`, so that the totals agree.
 */
export function createFeeFiatValue(prices: Prices) {
  const wallets = new Map<string, bigint>()
  const sums = { total: 0n, count: 0, unpriced: 0 }
  return {
    add: (row: AggregatedRow): void => {
      if (row.entry_type !== 'fee') return
      sums.count += 1
      const price = prices.at({ type: 'native', address: null }, row.block_timestamp)
      if (price === undefined) {
        sums.unpriced += 1
        return
      }
      const fiatValue = -exactFiatValue(BigInt(row.value), COIN_DECIMALS, price)
      const wallet = row.wallet_address
      sums.total += fiatValue
      wallets.set(wallet, (wallets.get(wallet) ?? 0n) + fiatValue)
    },
    result: (): FeeFiatValue => ({
      ...sums,
      wallets,
      total: sums.count > 0 && sums.unpriced === sums.count ? null : sums.total,
    }),
  }
}
