import type { AssetType } from '../../core/model/asset.ts'

/** What prices tell assets apart by. */
export type PricedAsset = {
  type: AssetType
  /** null for the chain's coin. */
  address: string | null
}

/** A coin or an ERC-20 token: each unit is like any other, so that one price holds for all. */
export type FungibleAsset = PricedAsset & {
  type: 'native' | 'erc20'
  symbol: string | null
  /** null where unknown. */
  decimals: number | null
  tokenId: null
}
