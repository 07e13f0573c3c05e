import type { AssetType } from '../../core/model/asset.ts'

/** The fields that identify an asset in a price list. */
export type PricedAsset = {
  type: AssetType
  /** null for the native coin. */
  address: string | null
}

/** The name of the native coin in a price list. */
export const NATIVE = 'native'

/** The asset of a name: a contract, or `native`. */
export const pricedAssetOf = (name: string): PricedAsset =>
  name === NATIVE ? { type: 'native', address: null } : { type: 'erc20', address: name }

/** The native coin or an ERC-20 token. Its units are interchangeable, so one price applies to all of them. */
export type FungibleAsset = PricedAsset & {
  type: 'native' | 'erc20'
  symbol: string | null
  /** null if unknown. */
  decimals: number | null
  tokenId: null
}
