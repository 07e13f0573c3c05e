import type { OpenExport } from '../read/open-export.ts'
import type { TextRow } from '../read/scratch-database.ts'
import type { Asset, Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import type { Period } from './period.ts'

/** Streams the movements within the period, grouped by transaction, in chain order. */
export async function* transactionsOf(
  opened: OpenExport,
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

/** The ledger columns that `movementOf` reads, in the order in which it expects their cells. */
const MOVEMENT_COLUMNS = [
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

function movementOf(row: TextRow, contracts: Contracts): Movement {
  const kind = row[10] as Asset['type']
  const value = row[15] as string
  const asset: Asset = {
    type: kind,
    address: row[11] ?? null,
    symbol: row[12] ?? null,
    digits: undefined,
    decimals: decimalsOf(kind, row[13]),
    tokenId: row[14] ?? null,
  }
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
    asset: withContract(asset, contracts),
    value: BigInt(value.startsWith('-') ? value.slice(1) : value),
    method: row[16] ?? null,
    block: row[17] as string,
    source: row[18] as string,
  }
}

/** The decimals of a row. ERC-1155 amounts are in whole units unless the metadata of the token defines decimals. */
function decimalsOf(type: Asset['type'], decimals: string | null | undefined): number | null {
  if (decimals != null) return Number(decimals)
  return type === 'erc1155' ? 0 : null
}
