import { wrongAmountSql } from './amount.ts'
import { type CheckedExport, expectNoRow } from './checked-export.ts'

/** Asset ids of AVAX on mainnet and Fuji. Only this asset is the coin of the C-Chain. */
const COIN_ASSETS = `('FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z', 'U8iRqJoiJm8xZHAacmvYyZVwqQx6uDNtQeP3CQ6fcgQk3JqnK')`

/** SQL conditions on a row of `atomic_transactions` that breaks a rule, by rule; null counts as broken. */
const RULES: Readonly<Record<string, string>> = {
  'a receiver and no sender for an import, and the reverse for an export': `CASE transfer_type WHEN 'import' THEN from_address IS NOT NULL OR to_address IS NULL
      ELSE from_address IS NULL OR to_address IS NOT NULL END`,
  'amount = value / 10^asset_decimals, exactly': wrongAmountSql('amount', 'value', 'asset_decimals'),
  '9 decimals for AVAX': `asset_id IN ${COIN_ASSETS} AND asset_decimals IS DISTINCT FROM 9`,
}

/** Checks each row of `atomic_transactions`, and that no such transaction is in `transactions` too. */
export async function checkAtomicTransactions(checkedExport: CheckedExport): Promise<void> {
  const { completeTables } = checkedExport
  if (!completeTables.has('atomic_transactions')) return
  for (const [rule, violation] of Object.entries(RULES))
    await expectNoRow(
      checkedExport,
      'atomic_transactions',
      `SELECT f, r, transfer_type, value, amount FROM atomic_transactions WHERE coalesce(${violation}, true)`,
      (row) => `expected ${rule}, found ${row.transfer_type} of ${row.value} (amount ${row.amount})`,
    )
  if (!completeTables.has('transactions')) return
  await expectNoRow(
    checkedExport,
    'atomic_transactions',
    `SELECT a.f, a.r, transaction_hash FROM atomic_transactions a SEMI JOIN transactions USING (transaction_hash)`,
    (row) => `expected ${row.transaction_hash} in one table, found it in transactions too`,
  )
}

/** Whether all facts of imports and exports are there: the job did not read any, or has their table. */
export function hasAtomicFacts({ manifest, completeTables }: CheckedExport): boolean {
  return manifest.job.atomic !== true || completeTables.has(ATOMIC_SOURCE)
}

/** The source of ledger rows of imports and exports. */
export const ATOMIC_SOURCE = 'atomic_transactions'

/** SQL for the ledger entries that follow from `atomic_transactions`: AVAX of wallets of the export, in wei. */
export const ATOMIC_ENTRIES = `SELECT chain_id, transaction_hash, '${ATOMIC_SOURCE}' AS source,
  transfer_ordinal::VARCHAR AS fact, address AS wallet_address, transfer_type AS entry_type,
  if(transfer_type = 'import', 'in', 'out') AS direction, NULL AS counterparty_address, false AS counterparty_is_own,
  'native' AS asset_type, NULL AS asset_address, 18 AS asset_decimals, NULL AS token_id,
  if(transfer_type = 'import', '', '-') || value || '000000000' AS value
  FROM atomic_transactions JOIN wallets ON address = coalesce(from_address, to_address) AND block_number < to_block
  WHERE asset_id IN ${COIN_ASSETS} AND value <> '0'`
