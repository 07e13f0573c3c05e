import type { CheckedExport } from './checked-export.ts'
import { differenceMessage } from './files.ts'

const LOCATION = 'manifest.json'

/** Checks the manifest's counts of transactions with unknown status or fee. Manifests of older versions lack them. */
export async function checkUnknowns(checkedExport: CheckedExport): Promise<void> {
  const { database, manifest, findings, completeTables } = checkedExport
  const { statusUnknown, feeUnknown } = manifest
  if (!completeTables.has('transactions')) return
  const [found] = await database.all(
    `SELECT count(*) FILTER (WHERE success IS NULL) AS status, count(*) FILTER (WHERE ${FEE}) AS fee
     FROM transactions LEFT JOIN wallets ON from_address = address`,
  )
  const [status, fee] = [Number(found?.status), Number(found?.fee)]
  const maxStatus = status + (await countUncertain(checkedExport))
  if (statusUnknown !== undefined)
    findings.expect(statusUnknown >= status && statusUnknown <= maxStatus, () =>
      differenceMessage(LOCATION, 'statusUnknown', { expected: status, found: statusUnknown }),
    )
  if (feeUnknown !== undefined)
    findings.expect(feeUnknown === fee, () =>
      differenceMessage(LOCATION, 'feeUnknown', { expected: fee, found: feeUnknown }),
    )
}

/** Transactions that a wallet sent within its covered blocks, with an unknown or zero fee. */
const FEE = `address IS NOT NULL AND block_number < to_block AND coalesce(transaction_fee, '0') = '0'`

/**
 * Counts transactions that the manifest may additionally count as unknown because of an internal transaction: one whose
 * outcome is unknown is exported with `reverted` false.
 */
async function countUncertain({ database, completeTables, manifest }: CheckedExport): Promise<number> {
  if (manifest.job.kind === 'blocks') return 0
  if (!completeTables.has('internal_transactions')) return Number.POSITIVE_INFINITY
  const [found] = await database.all(
    `SELECT count(DISTINCT transaction_hash) AS n FROM internal_transactions
     SEMI JOIN (SELECT transaction_hash FROM transactions WHERE success IS NOT NULL) USING (transaction_hash)
     WHERE NOT reverted`,
  )
  return Number(found?.n)
}
