/** What prices tell assets apart by. */
export type PricedAsset = {
  type: 'native' | 'erc20' | 'erc721' | 'erc1155'
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

export const isNft = ({ type }: Pick<PricedAsset, 'type'>): boolean => type === 'erc721' || type === 'erc1155'
