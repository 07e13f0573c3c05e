import { entryRulesOf } from '../core/model/entry-types.ts'
import { UNKNOWN_INDEX } from '../core/model/item-key.ts'
import type { TextRows } from '../core/table/index.ts'
import type { Dataset } from '../read/dataset.ts'
import type { Asset, Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import type { Period } from './period.ts'

/** Streams the movements within the period, grouped by transaction, in chain order. */
export async function* transactionsOf(
  opened: Dataset,
  { period: { from, to }, contracts }: { period: Period; contracts: Contracts },
): AsyncGenerator<Movement[], void, void> {
  let transaction: Movement[] = []
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const row of rows) {
      const movement = movementOf(row, contracts)
      if (movement.time < from || movement.time >= to) continue
      if (transaction.length > 0 && transaction[0]?.transaction !== movement.transaction) {
        yield transaction
        transaction = []
      }
      transaction.push(movement)
    }
  }
  if (transaction.length > 0) yield transaction
}

/** The ledger columns that a movement is made of. */
export const MOVEMENT_COLUMNS = [
  'block_timestamp',
  'transaction_hash',
  'chain_id',
  'entry_id',
  'wallet_address',
  'wallet_label',
  'entry_type',
  'direction',
  'counterparty_address',
  'counterparty_is_own',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'asset_decimals',
  'token_id',
  'value',
  'method_name',
  'block_number',
  'transaction_index',
  'source',
] as const

export type MovementRow = Pick<TextRows['ledger'], (typeof MOVEMENT_COLUMNS)[number]>

/** Returns the movement of a ledger row. Symbol and, if the row has none, decimals are those of the contract, if it is in `contracts`. */
export function movementOf(row: MovementRow, contracts: Contracts): Movement {
  const type = row.asset_type as Asset['type']
  const asset: Asset = {
    type,
    address: row.asset_address,
    symbol: row.asset_symbol,
    digits: undefined,
    ticker: undefined,
    decimals: decimalsOf(type, row.asset_decimals),
    tokenId: row.token_id,
  }
  const named = withContract(asset, contracts)
  const entryType = row.entry_type as Movement['type']
  const hasOwn = row.asset_decimals !== null && named.decimals !== asset.decimals
  return {
    time: row.block_timestamp,
    transaction: row.transaction_hash,
    chain: row.chain_id,
    entry: row.entry_id,
    wallet: row.wallet_address,
    label: row.wallet_label,
    type: entryType,
    isOut: row.direction === 'out',
    counterparty: row.counterparty_address,
    isOwn: row.counterparty_is_own === 'true' && entryRulesOf(entryType).countsAs !== 'wrap',
    asset: hasOwn ? { ...named, decimals: asset.decimals } : named,
    value: BigInt(row.value.startsWith('-') ? row.value.slice(1) : row.value),
    method: row.method_name,
    block: row.block_number,
    index: row.transaction_index ?? String(UNKNOWN_INDEX),
    source: row.source,
  }
}

/** The decimals of a row. ERC-1155 amounts are in whole units unless the metadata of the token defines decimals. */
function decimalsOf(type: Asset['type'], decimals: string | null): number | null {
  if (decimals !== null) return Number(decimals)
  return type === 'erc1155' ? 0 : null
}
