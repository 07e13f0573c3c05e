const TYPES = ['native', 'erc20', 'erc721', 'erc1155'] as const

/** Values of the `asset_type` column of the ledger: the native coin, a token, or an NFT. */
export type AssetType = (typeof TYPES)[number]
export const ASSET_TYPES: readonly string[] = TYPES

export const isNft = ({ type }: { type: string }): boolean => type === 'erc721' || type === 'erc1155'

/** Decimals of the native coin in the ledger, on every chain. */
export const COIN_DECIMALS = 18

/** A fungible asset (the native coin or a token contract) or a single NFT. */
export type Asset = {
  type: string
  /** null for the native coin. */
  address: string | null
  tokenId: string | null
}

/** The map key of a wallet's balance of an asset. With an empty `wallet` it is the key of the asset itself. */
export function assetBalanceKey(wallet: string, { type, address, tokenId }: Asset): string {
  return `${wallet}|${type}|${address}|${tokenId}`
}
