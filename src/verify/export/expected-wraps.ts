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
      items: [...(WRAPPED_COINS[chain] ?? []), ...(manifest.job.wrappedCoins ?? [])],
      toValues: (contract) => `(${quoteLiteral(chain)}, ${quoteLiteral(contract)})`,
    })
  const hasTransactions = sources.includes('transactions')
  const hasEvents = sources.includes('erc20_transfers')
  return [WRAP, UNWRAP]
    .map((type) => entriesSql(type, { hasEvents, method: hasTransactions ? type.method : undefined }))
    .join(' UNION ALL ')
}

/** WETH9 and its copies by chain id, apart from those whose Transfer events contain their wraps. */
const WRAPPED_COINS: Readonly<Record<string, readonly string[]>> = {
  1: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  10: ['0x4200000000000000000000000000000000000006'],
  25: ['0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23'],
  56: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'],
  97: ['0xae13d989dac2f0debff460ac112a837c89baa7cd'],
  100: ['0xe91d153e0b41518a2ce8dd3d7944fa863463a97d'],
  137: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
  204: ['0x4200000000000000000000000000000000000006'],
  1284: ['0xacc15dc74880c9944775448304b263d191c6077f'],
  5000: ['0x78c1b0c915c4faa5fffa6cabf0219da63d7f4cb8'],
  8453: ['0x4200000000000000000000000000000000000006'],
  17000: ['0x94373a4919b3240d86ea41593d5eba789fef3848'],
  43113: ['0xd00ae08403b9bbb9124bb305c09058e32c39a48c'],
  43114: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'],
  59144: ['0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f'],
  81457: ['0x4300000000000000000000000000000000000004'],
  7777777: ['0x4200000000000000000000000000000000000006'],
  11155111: ['0xfff9976782d46cc05630d1f6ebab18b2324d6b14', '0x7b79995e5f793a07bc00c21412e50ecae098e7f9'],
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
  type: 'wrap',
  direction: 'in',
  wallet: 'from_address',
  contract: 'to_address',
  value: 'm.units',
  eventSide: 'to_address',
}
const UNWRAP: WrapType = {
  type: 'unwrap',
  direction: 'out',
  wallet: 'to_address',
  contract: 'from_address',
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
