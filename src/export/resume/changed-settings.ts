import type { Manifest } from '../../core/model/manifest.ts'
import type { Job } from '../../core/model/model.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { FORMATS } from '../../formats/index.ts'

/**
 * Returns the names of the settings that affect rows and have changed since the export was written. Settings
 * that a manifest of an older version does not record count as unchanged.
 */
export function findChangedSettings(job: Job, manifest: Manifest): string[] {
  const { job: exportedJob, coverage } = manifest
  const labels = new Map(coverage.map(({ address, label }) => [address, label]))
  const isRenamed = ({ address, label }: Job['wallets'][number]) => differs(labels.get(address), label)
  return [
    ...(differs(exportedJob.nativeSymbol, job.nativeSymbol) ? ['nativeSymbol'] : []),
    ...(FORMATS[job.format].escapesFormulas && differs(exportedJob.escapeFormulas, job.escapeFormulas)
      ? ['escapeFormulas']
      : []),
    ...(job.wallets.some(isRenamed) ? ['labels'] : []),
    ...(columnDifferences(manifest).length > 0 ? ['columns'] : []),
  ]
}

function differs<T>(previous: T | undefined, current: T): boolean {
  return previous !== undefined && previous !== current
}
