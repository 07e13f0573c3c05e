import { join } from 'node:path'
import { PRIVATE_FOLDER, RECONCILIATION_FILE } from '../../core/model/manifest.ts'
import type { Reconciliation } from '../../core/model/reconciliation.ts'
import { writeAtomically } from '../../core/platform/disk.ts'
import { jsonText } from '../../core/platform/json-text.ts'
import { lockOutput } from '../../core/platform/lock/lock.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import type { ReconcileResult } from './reconcile.ts'
import type { LearnedWallet } from './verdict.ts'

/** Differences in the stored verdict; further ones are counted. */
const MAX_STORED = 1_000

/**
 * Stores a verdict beside the export, in place of the last one, from which it takes what was learned about wallets that it does
 * not compare. Throws OUTPUT_LOCKED if a run holds the output, and OUTPUT_FAILED.
 */
export async function storeVerdict(folder: string, result: ReconcileResult): Promise<void> {
  const release = await lockOutput(join(folder, PRIVATE_FOLDER), 'reconciling')
  try {
    const verdict = buildReconciliation(result, await readReconciliation(folder))
    await writeAtomically(join(folder, RECONCILIATION_FILE), `${jsonText(verdict)}\n`)
  } finally {
    await release()
  }
}

function buildReconciliation(result: ReconcileResult, last: Reconciliation | undefined): Reconciliation {
  const { ok, block, manifestSha256, files, wallets, balances, skipped, genesisWallets, rows, requests } =
    result
  const differences = rows.filter(({ difference }) => difference !== 0n)
  return {
    reconciliationVersion: 1,
    time: new Date().toISOString(),
    manifestSha256,
    files,
    ok,
    block,
    wallets,
    balances,
    skipped: [...skipped],
    genesisWallets,
    requests,
    opening: [...retainedOpening(result, last), ...result.learned.flatMap(openingOf)],
    reconciled: reconciledSums(result, last),
    differences: differences.slice(0, MAX_STORED).map((row) => ({
      ...row,
      ledger_value: String(row.ledger_value),
      service_value: String(row.service_value),
      difference: String(row.difference),
    })),
  }
}

/** The sums with which wallets agreed; wallets that no longer agree are removed. */
function reconciledSums({ learned }: ReconcileResult, last: Reconciliation | undefined) {
  const sums = new Map(Object.entries(last?.reconciled ?? {}))
  for (const { address, reconciledSums } of learned)
    if (reconciledSums === undefined) sums.delete(address)
    else sums.set(address, reconciledSums)
  return Object.fromEntries(sums)
}

type StoredOpening = Reconciliation['opening'][number]

/** What the last verdict states about wallets and kinds that the service did not state again. */
function retainedOpening({ learned }: ReconcileResult, last: Reconciliation | undefined): StoredOpening[] {
  const replaced = new Set(
    learned.flatMap(({ address, opening }) => opening.map(({ kind }) => `${address} ${kind}`)),
  )
  return (last?.opening ?? []).filter(
    (balance) => !replaced.has(`${balance.wallet_address} ${balance.asset_type}`),
  )
}

function openingOf({ address: wallet, fromBlock, opening }: LearnedWallet): StoredOpening[] {
  return opening.flatMap(({ held }) =>
    held.map(({ type, address, tokenId, value }) => ({
      wallet_address: wallet,
      asset_type: type,
      asset_address: address,
      token_id: tokenId,
      value: String(value),
      before_block: fromBlock,
    })),
  )
}
