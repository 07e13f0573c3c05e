import { join } from 'node:path'
import { PRIVATE_FOLDER, RECONCILIATION_FILE } from '../../core/model/manifest.ts'
import type { Reconciliation } from '../../core/model/reconciliation.ts'
import { writeAtomically } from '../../core/platform/disk.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import { lockOutput } from '../../core/platform/lock/lock.ts'
import type { ReconcileResult } from './reconcile.ts'

/** Differences in the stored verdict; further ones are counted. */
const MAX_STORED = 1_000

/**
 * Stores a verdict beside the export, in place of the last one. Throws OUTPUT_LOCKED if a run holds the output, and
 * OUTPUT_FAILED.
 */
export async function storeVerdict(folder: string, result: ReconcileResult): Promise<void> {
  const release = await lockOutput(join(folder, PRIVATE_FOLDER), 'reconciling')
  try {
    await writeAtomically(join(folder, RECONCILIATION_FILE), `${jsonText(toReconciliation(result))}\n`)
  } finally {
    await release()
  }
}

function toReconciliation(result: ReconcileResult): Reconciliation {
  const { ok, block, manifestSha256, wallets, balances, skipped, genesisWallets, rows, requests } = result
  const differences = rows.filter(({ difference }) => difference !== 0n)
  return {
    reconciliationVersion: 1,
    time: new Date().toISOString(),
    ...{ manifestSha256, ok, block },
    ...{ wallets, balances, skipped: [...skipped], genesisWallets, requests },
    differences: differences.slice(0, MAX_STORED).map((row) => ({
      ...row,
      ledger_value: String(row.ledger_value),
      service_value: String(row.service_value),
      difference: String(row.difference),
    })),
  }
}
