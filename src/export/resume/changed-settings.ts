import { type WrapSettings, wrappedCoinOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import type { Job, Wraps } from '../../core/model/model.ts'
import type { TableName } from '../../core/table/index.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { FORMATS } from '../../formats/index.ts'

/**
 * Returns the names of the settings that affect rows and have changed since the export was written. Settings
 * that a manifest of an older version does not record count as unchanged, except `wraps`: older versions wrote no such
 * rows.
 */
export function findChangedSettings(job: Job, manifest: Manifest): string[] {
  const { job: exportedJob, coverage } = manifest
  const labels = new Map(coverage.map(({ address, label }) => [address, label]))
  const isRenamed = ({ address, label }: Job['wallets'][number]) => differs(labels.get(address), label)
  return [
    ...(differs(exportedJob.nativeSymbol, job.nativeSymbol) ? ['nativeSymbol'] : []),
    ...changedWraps(job, manifest),
    ...(job.kind === 'wallets' && (exportedJob.atomic ?? false) !== job.atomic ? ['atomic'] : []),
    ...(FORMATS[job.format].escapesFormulas && differs(exportedJob.escapeFormulas, job.escapeFormulas)
      ? ['escapeFormulas']
      : []),
    ...(job.wallets.some(isRenamed) ? ['labels'] : []),
    ...(job.fees === 'exact' && (manifest.feesUpperBound ?? 0) > 0 ? ['fees'] : []),
    ...(columnDifferences(manifest).length > 0 ? ['columns'] : []),
    ...(missingTables(job, manifest).length > 0 ? ['tables'] : []),
  ]
}

/** Returns the tables of the job that the export does not have. */
export function missingTables({ tables }: Job, manifest: Pick<Manifest, 'tables'>): TableName[] {
  return tables.filter((table) => manifest.tables[table] === undefined)
}

/** The name of the setting by which the ledger now adds the movements of other wrapped coins. */
function changedWraps(job: Job, { job: exportedJob, tables }: Manifest): string[] {
  if (tables.ledger === undefined || addedCoins(exportedJob) === addedCoins(job)) return []
  return [exportedJob.wraps === job.wraps ? 'wrappedCoins' : 'wraps']
}

/** The contracts whose movements the ledger adds, as text for comparison. */
const addedCoins = (job: WrapSettings & { wraps?: Wraps }): string =>
  job.wraps === 'ledger' ? [...new Set(wrappedCoinOf(job)?.contracts)].sort().join() : ''

function differs<T>(previous: T | undefined, current: T): boolean {
  return previous !== undefined && previous !== current
}
