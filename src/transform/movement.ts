import type { AssetType } from '../core/model/asset.ts'
import type { EntryType } from '../core/model/entry-types.ts'
import type { Cells, TableName } from '../core/table/index.ts'

/**
 * A transfer of one asset from one party to another, a fee (no receiver), or the token side of wrapping the native coin:
 * the contract mints it for the receiver or burns it of the sender, and is itself not credited or debited. An import has
 * no sender and an export no receiver on this chain.
 */
export type Movement = {
  source: TableName
  /** Index of the fact within its transaction, as it enters `entry_id`. */
  index: string
  /** The parties decide whether a transfer is entered as one, or as `mint`, `burn` or `self`. */
  type: Exclude<EntryType, 'mint' | 'burn' | 'self' | 'opening'>
  parties: Parties
  asset: Asset
  /** Decimal digits, not negative, in base units (wei). */
  value: string
  /** `value` in whole units of the asset; null if its decimals are unknown. */
  amount: string | null
}

/** Sender and receiver, named like the columns of the fact tables. */
export type Parties = Pick<Cells<'transactions'>, 'from_address' | 'from_name' | 'to_address' | 'to_name'>

export type Asset = {
  type: AssetType
  address: string | null
  symbol: string | null
  decimals: number | null
  tokenId: string | null
}
