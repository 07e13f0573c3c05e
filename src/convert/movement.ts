import type { PricedAsset } from '../prices/priced-asset.ts'
import type { TextRow } from '../read/rows.ts'
import type { ContractNames } from './contract-names.ts'

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

/** Columns of the ledger, in the order in which `movementOf` takes their cells. */
export const MOVEMENT_COLUMNS = [
  ...['block_timestamp', 'transaction_hash', 'chain_id', 'entry_id', 'wallet_address', 'wallet_label'],
  ...[
    'entry_type',
    'direction',
    'counterparty_address',
    'counterparty_is_own',
    'asset_type',
    'asset_address',
  ],
  ...['asset_symbol', 'asset_decimals', 'token_id', 'value', 'method_name', 'block_number', 'source'],
] as const

/** `names`: what the contracts of the export are called. */
export function movementOf(row: TextRow, names: ContractNames): Movement {
  const kind = row[10] as Asset['type']
  const value = row[15] as string
  const address = row[11] ?? null
  const name = address === null ? undefined : names.get(address)
  return {
    time: row[0] as string,
    transaction: row[1] as string,
    chain: row[2] as string,
    entry: row[3] as string,
    wallet: row[4] as string,
    label: row[5] ?? null,
    type: row[6] as Movement['type'],
    isOut: row[7] === 'out',
    counterparty: row[8] ?? null,
    isOwn: row[9] === 'true',
    asset: {
      type: kind,
      address,
      symbol: name === undefined ? (row[12] ?? null) : name.symbol,
      digits: name?.digits,
      decimals: decimalsOf(kind, row[13]),
      tokenId: row[14] ?? null,
    },
    value: BigInt(value.startsWith('-') ? value.slice(1) : value),
    method: row[16] ?? null,
    block: row[17] as string,
    source: row[18] as string,
  }
}

/** ERC-1155 tokens are counted whole unless their metadata says otherwise. */
function decimalsOf(type: Asset['type'], decimals: string | null | undefined): number | null {
  if (decimals != null) return Number(decimals)
  return type === 'erc1155' ? 0 : null
}

/** What tells an asset from all others of its chain. */
export const assetKey = ({ type, address, tokenId }: Asset): string => `${type}|${address}|${tokenId}`
