import { fillTable } from '../../core/duckdb/fill-table.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import type { TableName } from '../../core/table/index.ts'
import { ATOMIC_ENTRIES } from './atomic.ts'
import { type CheckedExport, completeTablesOf } from './checked-export.ts'

/** The fact tables that ledger rows come from. */
export const SOURCES = [
  'transactions',
  'internal_transactions',
  'erc20_transfers',
  'erc721_transfers',
  'erc1155_transfers',
] as const satisfies readonly TableName[]
export type Source = (typeof SOURCES)[number]

/**
 * Creates the view `expected`: the ledger entries that follow from the readable fact tables (CONTRACT section 2.5). It is
 * computed whenever it is read, so that it takes no memory beside the ledger.
 *
 * @returns the fact tables that the entries were derived from, and the number of internal transactions that repeat the
 *   top-level call
 */
export async function createExpectedEntries(
  checkedExport: CheckedExport,
): Promise<{ sources: readonly Source[]; topLevelCalls: number }> {
  const sources = completeTablesOf(checkedExport, SOURCES) as Source[]
  if (sources.length === 0) return { sources, topLevelCalls: 0 }
  const hasTransactions = sources.includes('transactions')
  const hasTopLevel = hasTransactions && sources.includes('internal_transactions')
  if (hasTopLevel) await checkedExport.database.run(TOP_LEVEL)
  const moves = sources
    .map((source) => MOVES[source] + (hasTopLevel && source === 'internal_transactions' ? NOT_TOP_LEVEL : ''))
    .join(' UNION ALL ')
  const failed = `SELECT transaction_hash FROM transactions WHERE success = false`
  const excludeFailed = hasTransactions ? `ANTI JOIN (${failed}) AS failed USING (transaction_hash)` : ''
  await checkedExport.database.run(
    `CREATE VIEW moves AS SELECT * FROM (${moves}) AS all_moves ${excludeFailed}`,
  )
  const wraps = await wrapEntriesSql(checkedExport, sources)
  const entries = [
    BOTH_SIDES,
    ...(hasTransactions ? [FEES] : []),
    ...(wraps === undefined ? [] : [wraps]),
    ...(checkedExport.completeTables.has('atomic_transactions') ? [ATOMIC_ENTRIES] : []),
  ].join(' UNION ALL ')
  await checkedExport.database.run(
    `CREATE VIEW expected AS SELECT ${ENTRY_ID} AS id, * EXCLUDE (chain_id, fact) FROM (${entries})`,
  )
  const counted = hasTopLevel ? await checkedExport.database.all('SELECT count(*) AS n FROM top_level') : []
  return { sources, topLevelCalls: Number(counted[0]?.n ?? 0) }
}

/**
 * ERC-20 events of the contracts that represent the native coin on Polygon and zkSync Era. They give no ledger entries,
 * because native transactions already account for these movements.
 */
const COIN_AS_TOKEN = `((chain_id IN ('137', '80001', '80002') AND token_address = '0x${'1010'.padStart(40, '0')}')
  OR (chain_id IN ('324', '300', '280') AND token_address = '0x${'800a'.padStart(40, '0')}'))`

/** Type of an internal transaction; a missing type counts as UNKNOWN. */
const KIND = `upper(coalesce(i.internal_type, 'UNKNOWN'))`
const IS_CREATION = `(${KIND} LIKE 'CREATE%' OR t.to_address IS NULL OR coalesce(t.call_type, '') = 'CONTRACT_CREATION')`

/**
 * Creates the scratch table `top_level`: for each transaction, the first internal transaction that repeats the
 * top-level call and is not reverted. It gives no ledger entry, because the transaction itself has one. With other gas
 * figures, it must be the only call of the sender, which has no code then.
 */
const TOP_LEVEL = `CREATE TABLE top_level AS
  WITH calls AS (
    SELECT i.transaction_hash, i.f, i.r, coalesce(t.transaction_type, 0) = 4 AS has_code,
      i.gas_used IS NOT DISTINCT FROM t.gas_used AND i.gas_limit IS NOT DISTINCT FROM t.gas_limit AS same_gas,
      count(*) OVER (PARTITION BY i.transaction_hash) AS n,
      ${KIND} IN ('CALL', 'CREATE', 'CREATE2', 'CREATE3', 'UNKNOWN') AND i.value = t.value
        AND (i.to_address IS NOT DISTINCT FROM t.to_address
             OR (${IS_CREATION} AND (i.to_address IS NULL OR t.to_address IS NULL))) AS same_call
    FROM internal_transactions i JOIN transactions t USING (transaction_hash)
    WHERE NOT i.reverted AND i.from_address IS NOT DISTINCT FROM t.from_address)
  SELECT transaction_hash, arg_min({'f': f, 'r': r}, (f, r)) AS location
  FROM calls WHERE same_call AND (same_gas OR (n = 1 AND NOT has_code))
  GROUP BY transaction_hash`

const NOT_TOP_LEVEL = ` AND (f, r) NOT IN (SELECT (location.f, location.r) FROM top_level)`

/** Selects a fact table's rows as movements; `units` is a positive digit string. */
const MOVES: Readonly<Record<Source, string>> = {
  transactions: move('transactions', {
    fact: `''`,
    asset: `'native'`,
    address: 'NULL',
    decimals: '18',
    id: 'NULL',
  }),
  internal_transactions: `${move('internal_transactions', {
    fact: 'internal_id',
    asset: `'native'`,
    address: 'NULL',
    decimals: '18',
    id: 'NULL',
    isCall: `(upper(coalesce(internal_type, 'CALL')) = 'CALL')`,
  })} AND NOT reverted AND upper(coalesce(internal_type, '')) NOT IN ('DELEGATECALL', 'STATICCALL', 'CALLCODE')`,
  erc20_transfers: `${move('erc20_transfers', {
    fact: 'transfer_id',
    asset: `'erc20'`,
    address: 'token_address',
    decimals: 'token_decimals',
    id: 'NULL',
  })} AND NOT ${COIN_AS_TOKEN}`,
  erc721_transfers: move('erc721_transfers', {
    fact: 'transfer_id',
    asset: `'erc721'`,
    address: 'token_address',
    decimals: '0',
    id: 'token_id',
    value: `'1'`,
  }),
  erc1155_transfers: move('erc1155_transfers', {
    fact: `coalesce(log_index || '|' || transfer_ordinal, transfer_id)`,
    asset: `'erc1155'`,
    address: 'token_address',
    decimals: 'metadata_decimals',
    id: 'token_id',
  }),
}

type MoveColumns = {
  fact: string
  asset: string
  address: string
  decimals: string
  id: string
  value?: string
  /** Whether an internal transaction calls its receiver's code. */
  isCall?: string
}

function move(source: Source, from: MoveColumns): string {
  const { fact, asset, address, decimals, id, value = 'value', isCall = 'true' } = from
  return `SELECT chain_id, block_number, transaction_hash, '${source}' AS source, ${fact} AS fact, from_address, to_address,
    ${asset} AS asset_type, ${address}::VARCHAR AS asset_address, ${decimals}::INTEGER AS asset_decimals,
    ${id}::VARCHAR AS token_id, ${value} AS units, ${isCall} AS is_call FROM ${source} WHERE ${value} <> '0'`
}

/** The wallets of the export. A manifest with faults may list a wallet twice. */
const OWN_WALLETS = '(SELECT address, max(to_block) AS to_block FROM wallets GROUP BY address) AS own'

const ZERO = `'0x${'0'.repeat(40)}'`
const TYPE = `CASE WHEN from_address = to_address THEN 'self' WHEN from_address = ${ZERO} THEN 'mint'
  WHEN to_address = ${ZERO} THEN 'burn' ELSE 'transfer' END`

/** An entry for each side of a movement that is a wallet of the export. */
const BOTH_SIDES = `SELECT chain_id, transaction_hash, source, fact, wallet_address, ${TYPE} AS entry_type,
  if(is_out, 'out', 'in') AS direction, counterparty_address,
  coalesce(block_number < own.to_block, false) AS counterparty_is_own,
  asset_type, asset_address, asset_decimals, token_id, if(is_out, '-' || units, units) AS value
  FROM (SELECT *, if(is_out, from_address, to_address) AS wallet_address,
          if(is_out, to_address, from_address) AS counterparty_address
        FROM moves, (VALUES (true), (false)) AS sides (is_out))
  LEFT JOIN ${OWN_WALLETS} ON own.address = counterparty_address
  SEMI JOIN wallets ON wallet_address = wallets.address AND block_number < wallets.to_block`

const FEES = `SELECT chain_id, transaction_hash, 'transactions' AS source, '' AS fact, from_address AS wallet_address,
  'fee' AS entry_type, 'out' AS direction, NULL AS counterparty_address, false AS counterparty_is_own,
  'native' AS asset_type, NULL AS asset_address, 18 AS asset_decimals, NULL AS token_id, '-' || transaction_fee AS value
  FROM transactions SEMI JOIN wallets ON from_address = address AND block_number < to_block WHERE transaction_fee <> '0'`

const ID_COLUMNS = 'chain_id, transaction_hash, wallet_address, source, fact, entry_type, direction'
const ENTRY_ID = `left(sha256(concat_ws('|', ${ID_COLUMNS})), 32)`

/**
 * Creates the scratch table `wrapped_coins` and returns a query for the ledger's entries of wrapped coins, with the
 * columns of `expected`; undefined if the export has none. `moves` contains the movements of the native coin.
 *
 * Without `transactions` or `erc20_transfers` the query returns more entries than the ledger should have.
 */
async function wrapEntriesSql(
  { database, manifest }: CheckedExport,
  sources: readonly string[],
): Promise<string | undefined> {
  if (manifest.job.wraps !== 'ledger' || !sources.some((source) => COIN_SOURCES.includes(source)))
    return undefined
  const ofJob = manifest.job.wrappedCoins ?? []
  await fillTable(
    database.run,
    'wrapped_coins (chain VARCHAR, contract VARCHAR)',
    (await chainsOf(database, sources)).flatMap((chain) =>
      [...(WRAPPED_COINS[chain] ?? []), ...ofJob].map((contract) => [chain, contract]),
    ),
    (pair) => `(${pair.map(quoteLiteral).join(', ')})`,
  )
  const hasTransactions = sources.includes('transactions')
  const hasEvents = sources.includes('erc20_transfers')
  return [WRAP, UNWRAP]
    .map((type) => wrapSql(type, { hasEvents, method: hasTransactions ? type.method : undefined }))
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

function wrapSql(
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
    coalesce(m.block_number < own.to_block, false) AS counterparty_is_own,
    'erc20' AS asset_type, m.${contract} AS asset_address, 18 AS asset_decimals, NULL AS token_id, ${value} AS value
    FROM (SELECT * FROM moves WHERE asset_type = 'native') AS m
    ${method === undefined ? '' : 'JOIN transactions t ON t.transaction_hash = m.transaction_hash'}
    LEFT JOIN ${OWN_WALLETS} ON own.address = m.${contract}
    SEMI JOIN wallets ON m.${wallet} = wallets.address AND m.block_number < wallets.to_block
    WHERE ${conditions.join(' AND ')}`
}
