import { ASSET_TYPES, type Asset } from '../../core/model/asset.ts'

/** Compares by wallet; within a wallet by asset type (the native coin first), contract and token id. */
export function compareSums(a: Asset & { wallet: string }, b: Asset & { wallet: string }): number {
  return (
    compareTexts(a.wallet, b.wallet) ||
    ASSET_TYPES.indexOf(a.type) - ASSET_TYPES.indexOf(b.type) ||
    compareTexts(a.address ?? '', b.address ?? '') ||
    compareIds(a.tokenId ?? '', b.tokenId ?? '')
  )
}

export const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
/** Compares decimal integers without leading zeros by value. */
const compareIds = (a: string, b: string) => a.length - b.length || compareTexts(a, b)
