import type { Cells } from '../../../core/table/index.ts'

/** A row of one of the three ERC tables. */
export type LogRow = Cells<'erc20_transfers'> | Cells<'erc721_transfers'> | Cells<'erc1155_transfers'>

/** The on-chain content of a log, as text for comparison. Names, prices and metadata are excluded. */
export function logFacts(row: LogRow): string {
  const { token_address, from_address, to_address } = row
  const value = 'value' in row ? row.value : ''
  const id = 'token_id' in row ? row.token_id : ''
  return `${token_address} ${from_address} ${to_address} ${value} ${id}`
}

/** The log index of a row and its position in the log's batch, combined into one number. */
export function logKey(row: LogRow): number {
  return row.log_index * 2 ** 20 + ('transfer_ordinal' in row ? row.transfer_ordinal : 0)
}
