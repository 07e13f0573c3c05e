import { wrappedCoinOf } from '../../core/model/chains.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import { type CheckedExport, fillTable } from './checked-export.ts'

/**
 * Creates the scratch table `wrapped_coins` and returns a query for the ledger's entries of wrapped coins, with the
 * columns of `expected`; undefined if the export has none. `moves` contains the movements of the native coin.
 *
 * Without `transactions` or `erc20_transfers` the query returns more entries than the ledger should have.
 */
export async function wrapEntriesSql(
  { database, manifest }: CheckedExport,
  sources: readonly string[],
): Promise<string | undefined> {
  if (manifest.job.wraps !== 'ledger' || !sources.some((source) => COIN_SOURCES.includes(source)))
    return undefined
  await database.run('CREATE TABLE wrapped_coins (chain VARCHAR, contract VARCHAR)')
  for (const chain of await chainsOf(database, sources))
    await fillTable(database, 'wrapped_coins', {
      items: wrappedCoinOf(chain)?.contracts ?? [],
      toValues: (contract) => `(${quoteLiteral(chain)}, ${quoteLiteral(contract)})`,
    })
  const hasTransactions = sources.includes('transactions')
  const hasEvents = sources.includes('erc20_transfers')
  return [WRAP, UNWRAP]
    .map((type) => entriesSql(type, { hasEvents, method: hasTransactions ? type.method : undefined }))
    .join(' UNION ALL ')
}

const COIN_SOURCES = ['transactions', 'internal_transactions']

async function chainsOf({ all }: CheckedExport['database'], sources: readonly string[]): Promise<string[]> {
  const chains = COIN_SOURCES.filter((source) => sources.includes(source)).map(
    (source) => `SELECT chain_id FROM ${source}`,
  )
  const rows = await all(`SELECT DISTINCT chain_id FROM (${chains.join(' UNION ALL ')}) ORDER BY 1`)
  return rows.map(({ chain_id }) => String(chain_id))
}

type WrapType = {
  type: 'wrap' | 'unwrap'
  direction: 'in' | 'out'
  /** Columns of `moves`. */
  wallet: 'from_address' | 'to_address'
  contract: 'from_address' | 'to_address'
  value: string
  /** Column of a Transfer event that names the wallet. */
  eventSide: 'from_address' | 'to_address'
  /** Condition on the movement `m` and its transaction `t`. */
  method?: string
}

const WRAP: WrapType = {
  ...{ type: 'wrap', direction: 'in', wallet: 'from_address', contract: 'to_address', value: 'm.units' },
  eventSide: 'to_address',
}
const UNWRAP: WrapType = {
  ...{ type: 'unwrap', direction: 'out', wallet: 'to_address', contract: 'from_address' },
  value: `'-' || m.units`,
  eventSide: 'from_address',
  // The method is only known for the transaction's own call. It decides if that call is one of the contract.
  method: `(t.to_address IS DISTINCT FROM m.from_address OR (t.from_address = m.to_address
    AND CASE WHEN t.method_id IS NULL THEN coalesce(t.method_name, '') IN ('withdraw', 'withdraw(uint256)')
        ELSE t.method_id = '0x2e1a7d4d' END))`,
}

function entriesSql(
  { type, direction, wallet, contract, value, eventSide }: WrapType,
  { hasEvents, method }: { hasEvents: boolean; method: string | undefined },
): string {
  const event = `SELECT 1 FROM erc20_transfers e WHERE e.transaction_hash = m.transaction_hash
    AND e.token_address = m.${contract} AND e.${eventSide} = m.${wallet} AND e.value = m.units
    AND e.from_address IS DISTINCT FROM e.to_address`
  const conditions = [
    `(m.chain_id, m.${contract}) IN (SELECT (chain, contract) FROM wrapped_coins)`,
    `m.from_address <> m.to_address AND m.is_call`,
    ...(type === 'wrap'
      ? ['(m.chain_id, m.from_address) NOT IN (SELECT (chain, contract) FROM wrapped_coins)']
      : [`m.source = 'internal_transactions'`]),
    ...(method === undefined ? [] : [method]),
    ...(hasEvents ? [`NOT EXISTS (${event})`] : []),
  ]
  return `SELECT m.chain_id, m.transaction_hash, m.source, m.fact, m.${wallet} AS wallet_address, '${type}' AS entry_type,
    '${direction}' AS direction, m.${contract} AS counterparty_address,
    coalesce(m.block_number < (SELECT max(to_block) FROM wallets WHERE address = m.${contract}), false) AS counterparty_is_own,
    'erc20' AS asset_type, m.${contract} AS asset_address, 18 AS asset_decimals, NULL AS token_id, ${value} AS value
    FROM (SELECT * FROM moves WHERE asset_type = 'native') AS m
    ${method === undefined ? '' : 'JOIN transactions t ON t.transaction_hash = m.transaction_hash'}
    SEMI JOIN wallets ON m.${wallet} = address AND m.block_number < to_block
    WHERE ${conditions.join(' AND ')}`
}
