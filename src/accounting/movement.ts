import type { EntryType } from '../core/model/entry-types.ts'
import { DECLARED_SOURCE } from '../ledger/balances/adjustments.ts'
import type { PricedAsset } from '../ledger/prices/prices.ts'

/** A row of the ledger: one asset that a wallet received or sent. */
export type Movement = {
  /** Time of the block, in the format of the tables: 2023-11-14T22:46:40.000Z. */
  time: string
  /** The transaction hash, or the id of an import or export; empty for opening balances. */
  transaction: string
  chain: string
  /** The name of the chain, if the conversion is of several chains. */
  chainName?: string | undefined
  entry: string
  wallet: string
  label: string | null
  type: EntryType
  isOut: boolean
  counterparty: string | null
  /** The label of the counterparty if it is a wallet of the job, or its name in the user's address book. */
  counterpartyName?: string | undefined
  /** The contract through which a multisend reaches the counterparty. @default none */
  via?: string | null | undefined
  /** Whether the counterparty is a wallet of the job too and has a row for the other side. */
  isOwn: boolean
  asset: Asset
  /** In the asset's smallest unit; never negative. */
  value: bigint
  method: string | null
  block: string
  /** The position of the transaction in its block. */
  index: string
  /** The table that the row was derived from: transactions, erc20_transfers and so on; `opening` for opening balances. */
  source: string
}

export type Asset = PricedAsset & {
  symbol: string | null
  /** Digits of the contract that distinguish it in names from the other contracts of the export. @default the first 8 */
  digits?: string | undefined
  /**
   * The name that only this contract has in the accounting program: its ticker, or the program's own identifier.
   * @default none: the name consists of the symbol and the digits
   */
  ticker?: string | undefined
  /** null if unknown. */
  decimals: number | null
  tokenId: string | null
}

/** Whether a movement belongs to an EVM transaction: imports, exports, opening balances and adjustments do not. */
export const hasTransaction = ({ source }: Movement): boolean =>
  source !== 'atomic_transactions' && source !== 'opening' && source !== DECLARED_SOURCE

/** Groups consecutive movements of the same wallet and transaction. */
export function groupByWallet(movements: readonly Movement[]): [Movement, ...Movement[]][] {
  const groups: [Movement, ...Movement[]][] = []
  for (const movement of movements) {
    const last = groups.at(-1)
    if (last?.[0].wallet === movement.wallet && last[0].transaction === movement.transaction)
      last.push(movement)
    else groups.push([movement])
  }
  return groups
}

/** A key that identifies an asset within its chain. */
export const assetKey = ({ type, address, tokenId }: Asset): string => `${type}|${address}|${tokenId}`

/** A movement, or a part of its amount, that is missing from the output file. */
export type Omitted = {
  movement: Movement
  /** The missing amount in the asset's smallest unit; negative if it was sent. */
  value: bigint
  reason: string
}

/** Describes a movement that is omitted completely. */
export function toOmitted(movement: Movement, reason: string): Omitted {
  return { movement, value: movement.isOut ? -movement.value : movement.value, reason }
}

/** Describes the difference between an amount and what the file has of it, in the smallest unit; negative if that is more. */
export function toRounded(movement: Movement, difference: bigint, isOut = movement.isOut): Omitted {
  return {
    movement,
    value: isOut ? -difference : difference,
    reason: 'rounded to the decimals of the format',
  }
}
