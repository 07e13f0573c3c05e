const TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const

/** What an asset is, as `asset_type` of the ledger has it: the chain's coin, a token, or an NFT. */
export type AssetType = (typeof TYPES)[number]
export const ASSET_TYPES: readonly string[] = TYPES

export const isNft = ({ type }: { type: string }): boolean => type === 'erc721' || type === 'erc1155'

/** Of the coin of any chain, as the ledger counts it. */
export const COIN_DECIMALS = 18
