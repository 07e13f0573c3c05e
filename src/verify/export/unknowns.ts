import type { CheckedExport } from './checked-export.ts'

const LOCATION = 'manifest.json'

/**
 * Checks the manifest's counts of transactions with unknown status or fee, and of fees that are upper bounds. Manifests
 * of older versions lack them.
 */
export async function checkUnknowns(checkedExport: CheckedExport): Promise<void> {
  const { database, manifest, findings, completeTables } = checkedExport
  const { statusUnknown, feeUnknown, feesUpperBound = 0 } = manifest
  if (!completeTables.has('transactions')) return
  const [counts] = await database.all(
    `SELECT count(*) FILTER (WHERE success IS NULL AND value IS NOT NULL) AS status, count(*) FILTER (WHERE ${FEE}) AS fee,
       count(*) FILTER (WHERE ${UPPER_BOUND}) AS bound
     FROM transactions LEFT JOIN wallets ON from_address = address`,
  )
  const [status, fee, bound] = [Number(counts?.status), Number(counts?.fee), Number(counts?.bound)]
  const maxStatus = status + (await countUncertain(checkedExport))
  if (statusUnknown !== undefined)
    findings.expectValue(LOCATION, 'statusUnknown', {
      expected: status,
      found: statusUnknown,
      holds: statusUnknown >= status && statusUnknown <= maxStatus,
    })
  if (feeUnknown !== undefined)
    findings.expectValue(LOCATION, 'feeUnknown', { expected: fee, found: feeUnknown })
  if (manifest.job.fees !== undefined && feeUnknown !== undefined)
    findings.expectValue(LOCATION, 'feesUpperBound', {
      expected: bound,
      found: feesUpperBound,
      holds: feesUpperBound === bound && (manifest.job.fees === 'listed' || bound === 0),
    })
}

/** Transactions that a wallet sent within its covered blocks. */
const OWN = 'address IS NOT NULL AND block_number < to_block'
/** With an unknown or zero fee, or one that may lack a part. */
const FEE = `${OWN} AND (coalesce(transaction_fee, '0') = '0' OR extra_fee IS NULL)`
/** With a fee that is computed from what may be the fee cap. */
const UPPER_BOUND = `${OWN} AND transaction_type >= 2 AND effective_gas_price IS NULL
  AND coalesce(transaction_fee, '0') <> '0'`

/**
 * Counts transactions that the manifest may additionally count as unknown because of an internal transaction: one whose
 * outcome is unknown is exported with `reverted` false.
 */
async function countUncertain({ database, completeTables, manifest }: CheckedExport): Promise<number> {
  if (manifest.job.kind === 'blocks') return 0
  if (!completeTables.has('internal_transactions')) return Number.POSITIVE_INFINITY
  const [counts] = await database.all(
    `SELECT count(DISTINCT transaction_hash) AS n FROM internal_transactions
     SEMI JOIN (SELECT transaction_hash FROM transactions WHERE success IS NOT NULL) USING (transaction_hash)
     WHERE NOT reverted`,
  )
  return Number(counts?.n)
}

/** Checks that the manifest counts the contracts whose rows disagree on the decimals of a token. */
export async function checkDecimals({
  database,
  manifest,
  findings,
  completeTables,
}: CheckedExport): Promise<void> {
  const sources = (['erc20_transfers', 'erc1155_transfers', 'ledger'] as const)
    .filter((table) => completeTables.has(table))
    .map((table) => DECIMALS[table])
  if (sources.length === 0) return
  const [counts] = await database.all(
    `SELECT count(DISTINCT address) AS n FROM (SELECT address, id FROM (${sources.join(' UNION ALL ')})
     GROUP BY address, id HAVING count(DISTINCT decimals) > 1)`,
  )
  const { decimalsConflict = 0 } = manifest
  findings.expectValue(LOCATION, 'decimalsConflict', {
    expected: counts?.n,
    found: decimalsConflict,
    holds: decimalsConflict >= Number(counts?.n),
  })
}

const DECIMALS = {
  erc20_transfers: `SELECT token_address AS address, '' AS id, token_decimals AS decimals FROM erc20_transfers`,
  erc1155_transfers: `SELECT token_address AS address, token_id AS id, metadata_decimals AS decimals FROM erc1155_transfers`,
  ledger: `SELECT asset_address AS address, coalesce(token_id, '') AS id, asset_decimals AS decimals FROM ledger WHERE asset_type IN ('erc20', 'erc1155')`,
}
