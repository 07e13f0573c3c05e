import type { TableName } from '../../core/table/index.ts'
import { ATOMIC_ENTRIES } from './atomic.ts'
import type { CheckedExport } from './checked-export.ts'
import { completeTablesOf } from './checked-export.ts'
import { wrapEntriesSql } from './expected-wraps.ts'

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
 * Creates the scratch table `expected`: the ledger entries that follow from the readable fact tables (CONTRACT section
 * 2.5).
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
    `CREATE TABLE moves AS SELECT * FROM (${moves}) AS all_moves ${excludeFailed}`,
  )
  const wraps = await wrapEntriesSql(checkedExport, sources)
  const entries = [
    entriesSql(OUT),
    entriesSql(IN),
    ...(hasTransactions ? [FEES] : []),
    ...(wraps === undefined ? [] : [wraps]),
    ...(checkedExport.completeTables.has('atomic_transactions') ? [ATOMIC_ENTRIES] : []),
  ].join(' UNION ALL ')
  await checkedExport.database.run(
    `CREATE TABLE expected AS SELECT ${ENTRY_ID} AS id, * EXCLUDE (chain_id, fact) FROM (${entries})`,
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

type DirectionColumns = { direction: string; wallet: string; counterparty: string; value: string }
const OUT: DirectionColumns = {
  direction: 'out',
  wallet: 'from_address',
  counterparty: 'to_address',
  value: `'-' || units`,
}
const IN: DirectionColumns = {
  direction: 'in',
  wallet: 'to_address',
  counterparty: 'from_address',
  value: 'units',
}

const ZERO = `'0x${'0'.repeat(40)}'`
const TYPE = `CASE WHEN from_address = to_address THEN 'self' WHEN from_address = ${ZERO} THEN 'mint'
  WHEN to_address = ${ZERO} THEN 'burn' ELSE 'transfer' END`

function entriesSql({ direction, wallet, counterparty, value }: DirectionColumns): string {
  return `SELECT chain_id, transaction_hash, source, fact, ${wallet} AS wallet_address, ${TYPE} AS entry_type,
    '${direction}' AS direction, ${counterparty} AS counterparty_address,
    coalesce(block_number < (SELECT max(to_block) FROM wallets WHERE address = ${counterparty}), false) AS counterparty_is_own,
    asset_type, asset_address, asset_decimals, token_id, ${value} AS value
    FROM moves SEMI JOIN wallets ON ${wallet} = address AND block_number < to_block`
}

const FEES = `SELECT chain_id, transaction_hash, 'transactions' AS source, '' AS fact, from_address AS wallet_address,
  'fee' AS entry_type, 'out' AS direction, NULL AS counterparty_address, false AS counterparty_is_own,
  'native' AS asset_type, NULL AS asset_address, 18 AS asset_decimals, NULL AS token_id, '-' || transaction_fee AS value
  FROM transactions SEMI JOIN wallets ON from_address = address AND block_number < to_block WHERE transaction_fee <> '0'`

const ID_COLUMNS = 'chain_id, transaction_hash, wallet_address, source, fact, entry_type, direction'
/** entry_id as a 128-bit UUID, which takes half the space of its text. */
const ENTRY_ID = `left(sha256(concat_ws('|', ${ID_COLUMNS})), 32)::UUID`
