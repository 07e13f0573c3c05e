import type { PricedAsset } from '../ledger/prices/priced-asset.ts'

/** A row of the ledger as conversions see it: one asset that a wallet got or gave. */
export type Movement = {
  /** Time of the block, as the tables write it: 2023-11-14T22:46:40.000Z. */
  time: string
  transaction: string
  chain: string
  entry: string
  wallet: string
  label: string | null
  type: 'transfer' | 'mint' | 'burn' | 'fee' | 'self'
  isOut: boolean
  counterparty: string | null
  /** The other party is a wallet of the job too. */
  isOwn: boolean
  asset: Asset
  /** In the asset's smallest unit, not negative. */
  value: bigint
  method: string | null
  block: string
  /** The table of facts that the row came from. */
  source: string
}

export type Asset = PricedAsset & {
  symbol: string | null
  /** What tells its contract from others in names. @default its first digits */
  digits?: string | undefined
  /** null where unknown. */
  decimals: number | null
  tokenId: string | null
}

/** What tells an asset from all others of its chain. */
export const assetKey = ({ type, address, tokenId }: Asset): string => `${type}|${address}|${tokenId}`
