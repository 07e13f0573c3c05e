import type { Cells, Prefix } from '../core/table/index.ts'

/**
 * One item's view of a transaction, validated: the cells that follow from this item alone. Text is `ByteText`. A
 * view may be partial: a wallet's listing contains only the transfers that touch the wallet.
 */
export type View = {
  native: Native
  erc20: readonly Cells<'erc20_transfers'>[]
  erc721: readonly Cells<'erc721_transfers'>[]
  erc1155: readonly Cells<'erc1155_transfers'>[]
  internal: readonly Internal[]
  /** False if entries were rejected: what the view lacks may be one of them. */
  isComplete: boolean
  /** Logs that the source listed in more than one of the ERC lists, once each is in one list only. @default none */
  repeatedLogs?: readonly LogKey[] | undefined
}

/** Identifies a log within its transaction. A transfer without log index counts as a log of its own. */
export type LogKey = number | string

/** The row of the transaction itself, and the prefix of all rows of the transaction. */
export type Native = {
  prefix: Prefix
  row: Cells<'transactions'>
  /**
   * Whether the view lacks the record of the transaction itself: what other records do not state is null. @default false
   */
  isPartial?: boolean | undefined
}

/** A validated atomic transaction: the prefix of its rows, and one row per input or output on the C-Chain. */
export type AtomicView = { prefix: Prefix; entries: readonly Cells<'atomic_transactions'>[] }

export type ErcTable = 'erc20' | 'erc721' | 'erc1155'

/** A row of one of the three ERC tables. */
export type LogRow = Cells<'erc20_transfers'> | Cells<'erc721_transfers'> | Cells<'erc1155_transfers'>

/** An internal transaction: its row without the id, which depends on the other entries. */
export type Internal = {
  row: Omit<Cells<'internal_transactions'>, 'internal_id'>
  /**
   * Its identity: the JSON array of sender, receiver and value, whose hash is the first part of `internal_id`
   * (CONTRACT section 2.3).
   */
  content: string
  /** Whether the source states if the entry was reverted. Otherwise it counts as not reverted. */
  isOutcomeKnown: boolean
}

/** The on-chain content of a log, as text for comparison. Names, prices and metadata are excluded. */
export function onChainLogFields(row: LogRow): string {
  const { token_address, from_address, to_address } = row
  const value = 'value' in row ? row.value : ''
  const id = 'token_id' in row ? row.token_id : ''
  return `${token_address} ${from_address} ${to_address} ${value} ${id}`
}
