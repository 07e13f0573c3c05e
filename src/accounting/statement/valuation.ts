import { isNft } from '../../core/model/asset.ts'
import { exactFiatValue } from '../../ledger/prices/fiat-value.ts'
import { pricedChainOf } from '../../ledger/prices/fungible-assets.ts'
import { type Prices, readPrices } from '../../ledger/prices/prices.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { Asset } from '../movement.ts'
import { type Contracts, readContracts } from '../names/contracts.ts'
import { addNeeded, type PriceNeeded, sortedPrices } from '../prices-needed.ts'

/** Values amounts at the prices of a file, and collects the prices that it lacks. */
export type Valuation = {
  /** undefined if there is no file. */
  currency: string | undefined
  contracts: Contracts
  /** The value of an amount at a time, in units of 10^-8 of the currency; null if it has no price. */
  valueAt(asset: Asset, value: bigint, time: string): bigint | null
  /** The prices that were missing, sorted by day, chain and asset. */
  needed(): PriceNeeded[]
}

export type ValuationOptions = {
  /** CSV file of prices, in the format of `convert`. @default no values */
  prices?: string | undefined
  /** Whether to collect missing prices although there is no file of prices. @default false */
  collectsNeeded?: boolean
}

/** Opens the valuation of an export. Throws USAGE if the file of prices is invalid. */
export async function openValuation(
  opened: Dataset,
  { prices: file, collectsNeeded = false }: ValuationOptions,
): Promise<Valuation> {
  if (file === undefined && !collectsNeeded)
    return { currency: undefined, contracts: new Map(), valueAt: () => null, needed: () => [] }
  const priced = pricedChainOf(opened)
  const prices = file === undefined ? undefined : await readPrices(file, priced)
  return { contracts: await readContracts(opened), ...valueWith(prices, priced.chain) }
}

/** An amount of zero is worth nothing, whatever its price. NFTs and tokens without decimals have no price. */
function valueWith(prices: Prices | undefined, chain: string): Omit<Valuation, 'contracts'> {
  const needed = new Map<string, PriceNeeded>()
  return {
    currency: prices?.currency,
    valueAt: (asset, value, time) => {
      if (value === 0n) return 0n
      const { decimals } = asset
      if (isNft(asset) || decimals === null || decimals < 0 || decimals > 255) return null
      const price = prices?.at(asset, time)
      if (price !== undefined) return exactFiatValue(value, decimals, price)
      addNeeded(needed, { chain, asset, time })
      return null
    },
    needed: () => sortedPrices(needed),
  }
}
