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

/**
 * Values by wallet and asset, in the order in which they were set. The last value of each contract is found without
 * the key: making a key for each row took a twentieth of the time of a statement.
 */
export class AssetMap<T> {
  readonly #values = new Map<string, T>()
  readonly #recent = new Map<string | null, Asset & { wallet: string; value: T }>()

  get(wallet: string, asset: Asset): T | undefined {
    const { type, address, tokenId } = asset
    const recent = this.#recent.get(address)
    if (recent?.wallet === wallet && recent.type === type && recent.tokenId === tokenId) return recent.value
    const value = this.#values.get(assetBalanceKey(wallet, asset))
    if (value === undefined) return undefined
    if (recent === undefined) {
      this.#recent.set(address, { wallet, type, address, tokenId, value })
      return value
    }
    recent.wallet = wallet
    recent.type = type
    recent.tokenId = tokenId
    recent.value = value
    return value
  }

  /** Sets a value that `get` does not return yet. */
  add(wallet: string, asset: Asset, value: T): void {
    this.#values.set(assetBalanceKey(wallet, asset), value)
  }

  values(): IterableIterator<T> {
    return this.#values.values()
  }
}
