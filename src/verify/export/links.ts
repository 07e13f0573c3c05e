import type { TableName } from '../../core/table/index.ts'
import { ATOMIC_SOURCE } from './atomic.ts'
import { type CheckedExport, expectNoRow, hasRows } from './checked-export.ts'

const FACT_TABLES = [
  'erc20_transfers',
  'erc721_transfers',
  'erc1155_transfers',
  'internal_transactions',
] as const

/**
 * Checks references between tables: every transaction is in `transactions` with the same block, every fact belongs to a
 * transaction of a wallet, and no wallet counts more facts than exist.
 */
export async function checkLinks(checkedExport: CheckedExport): Promise<void> {
  const { completeTables } = checkedExport
  if (completeTables.has('transactions')) {
    for (const name of [...FACT_TABLES, 'wallet_transactions', 'ledger'] as const)
      if (hasRows(checkedExport, name)) await checkTransactionRefs(checkedExport, name)
  }
  if (!completeTables.has('wallet_transactions')) return
  if (completeTables.has('transactions')) await checkParties(checkedExport)
  for (const name of ['transactions', ...FACT_TABLES] as const)
    if (hasRows(checkedExport, name)) await checkWalletRefs(checkedExport, name)
  for (const name of FACT_TABLES) if (completeTables.has(name)) await checkFactCounts(checkedExport, name)
}

/** Checks that `transactions` has each row's transaction, with the same block, time and index. */
async function checkTransactionRefs(checkedExport: CheckedExport, name: TableName): Promise<void> {
  const same = ['chain_id', 'block_number', 'transaction_index', 'block_key']
  const rows = name === 'ledger' ? `(FROM ledger WHERE source <> '${ATOMIC_SOURCE}')` : name
  const differ = same.map((column) => `x.${column} IS DISTINCT FROM t.${column}`).join(' OR ')
  await expectNoRow(
    checkedExport,
    name,
    `SELECT x.f, x.r, x.transaction_hash, t.transaction_hash IS NULL AS missing
          FROM ${rows} x LEFT JOIN transactions t USING (transaction_hash)
          WHERE t.transaction_hash IS NULL OR ${differ}`,
    (row) => {
      const problem = row.missing ? 'no such row' : 'a different block, time or index'
      return `expected ${row.transaction_hash} as in transactions, found ${problem}`
    },
  )
}

/** Checks that `is_sender` and `is_receiver` match the transaction's sender and receiver. */
async function checkParties(checkedExport: CheckedExport): Promise<void> {
  await expectNoRow(
    checkedExport,
    'wallet_transactions',
    `SELECT w.f, w.r, w.transaction_hash
          FROM wallet_transactions w JOIN transactions t USING (transaction_hash)
          WHERE w.is_sender IS DISTINCT FROM (w.wallet_address IS NOT DISTINCT FROM t.from_address)
             OR w.is_receiver IS DISTINCT FROM (w.wallet_address IS NOT DISTINCT FROM t.to_address)`,
    (row) => `is_sender, is_receiver: expected the parties of ${row.transaction_hash}, found others`,
  )
}

/** Checks that `wallet_transactions` has each fact's transaction: every fact comes from some wallet's listing. */
async function checkWalletRefs(checkedExport: CheckedExport, name: TableName): Promise<void> {
  await expectNoRow(
    checkedExport,
    name,
    `SELECT x.f, x.r, x.transaction_hash FROM ${name} x ANTI JOIN wallet_transactions w USING (transaction_hash)`,
    (row) => `expected ${row.transaction_hash} in wallet_transactions, found no such row`,
  )
}

/**
 * Checks that no wallet counts more facts of a transaction than the fact table, which unites the views of all wallets.
 */
async function checkFactCounts(
  checkedExport: CheckedExport,
  name: (typeof FACT_TABLES)[number],
): Promise<void> {
  const facts = `SELECT transaction_hash, count(*) AS facts FROM ${name} GROUP BY transaction_hash`
  await expectNoRow(
    checkedExport,
    'wallet_transactions',
    `SELECT w.f, w.r, w.${name} AS seen, coalesce(x.facts, 0) AS facts
          FROM wallet_transactions w LEFT JOIN (${facts}) x USING (transaction_hash)
          WHERE w.${name} < 0 OR w.${name} > coalesce(x.facts, 0)`,
    (row) => `${name}: expected at most the ${row.facts} of the fact table, found ${row.seen}`,
  )
}
