import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import type { Balance, Balances } from '../ledger/balances/balances.ts'
import { exactWorth } from '../ledger/prices/fiat-value.ts'
import type { PricedAsset } from '../ledger/prices/priced-asset.ts'
import type { Prices } from '../ledger/prices/prices.ts'
import type { FeeWorth } from './fee-fiat-value.ts'
import { type Tally, tallyKey } from './ledger-aggregates.ts'

/** What balances and fees are worth by the user's prices, in 10^-8 of the currency. */
export type Worths = {
  currency: string
  /** When the last movement was, as the tables write it: what wallets have in the end is worth the prices then. */
  at: string
  total: bigint
  /** By wallet, by asset (as `tallyKey` names it), and by both; what has no price is in none. */
  wallets: ReadonlyMap<string, bigint>
  assets: ReadonlyMap<string, bigint>
  balances: ReadonlyMap<string, bigint>
  /** Coins and tokens that some wallet has in the end, and those of them without a price then. */
  held: ReadonlySet<string>
  unpriced: ReadonlySet<string>
  fees: FeeWorth
}

/** What a wallet has of an asset, in `Worths.balances`. */
export const balanceKey = (wallet: string, asset: string): string => `${wallet} ${asset}`

/** Multiplies each balance with its price at the end, and adds up what that gives. NFTs have no price. */
export function worthsOf(
  { balances }: Balances,
  tally: Tally,
  given: { prices: Prices; fees: FeeWorth },
): Worths {
  const { prices, fees } = given
  const sums = { wallets: new Map<string, bigint>(), assets: new Map<string, bigint>() }
  const [each, held, unpriced] = [new Map<string, bigint>(), new Set<string>(), new Set<string>()]
  let total = 0n
  for (const one of balances) {
    const asset = { type: one.asset_type, address: one.asset_address } as PricedAsset
    if (isNft(asset) || one.value === 0n) continue
    const key = tallyKey(asset.type, asset.address)
    held.add(key)
    const worth = worthIn(one, { price: prices.at(asset, tally.last), decimals: decimalsOf(asset, tally) })
    if (worth === undefined) {
      unpriced.add(key)
      continue
    }
    total += worth
    each.set(balanceKey(one.wallet_address, key), worth)
    addTo(sums.wallets, one.wallet_address, worth)
    addTo(sums.assets, key, worth)
  }
  return { currency: prices.currency, at: tally.last, total, ...sums, balances: each, held, unpriced, fees }
}

type Known = { price: string | undefined; decimals: number | null }

function worthIn({ value }: Balance, { price, decimals }: Known): bigint | undefined {
  return price === undefined || decimals === null ? undefined : exactWorth(value, decimals, price)
}

const decimalsOf = ({ type, address }: PricedAsset, { assets }: Tally): number | null =>
  type === 'native' ? COIN_DECIMALS : (assets.get(tallyKey(type, address))?.decimals ?? null)

function addTo(sums: Map<string, bigint>, key: string, worth: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + worth)
}
