import { DEFAULT_API } from '../../core/model/api.ts'
import { type WrapSettings, wrappedCoinOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import type { Job, Wraps } from '../../core/model/model.ts'
import { API_FIELD, outputChanged } from '../../core/model/output-changed.ts'
import type { TableName } from '../../core/table/index.ts'
import { columnDifferences } from '../../core/table/schema-changes.ts'
import { readManifestBackup, readManifestIfExists, requireSafeManifest } from '../../files/publish.ts'
import { FORMATS } from '../../formats/index.ts'
import { outputName } from '../../storage/bucket-url.ts'
import type { Store } from '../../storage/store.ts'

/** An existing export in a job's output that the job continues. */
export type ExistingExport = {
  manifest: Manifest
  /**
   * First block with a file that is missing or has another size than listed; Infinity if all files are
   * intact.
   */
  intactTo: number
  /**
   * Whether the manifest is a backup: a run was interrupted while it replaced files, so some are already
   * replaced.
   */
  isBackup: boolean
}

/**
 * Returns the export in a job's output; undefined if there is none.
 *
 * @throws OUTPUT_CHANGED if it belongs to another job, VERIFY_FAILED if its manifest has a path outside of
 * the output
 */
export async function findExport(job: Job, store: Store): Promise<ExistingExport | undefined> {
  await requireSafeManifest(job.output)
  const present = await readManifestIfExists(job.output)
  const manifest = present ?? (await readManifestBackup(job.output))
  if (manifest === undefined) return undefined
  requireSameJob(job, manifest)
  return {
    manifest,
    intactTo: await firstDamagedBlock(store, manifest),
    isBackup: present === undefined,
  }
}

/** Whether the job's rows fit into the export: no fewer tables, and the same fixed settings. */
export function isSameJob(job: Job, manifest: Manifest): boolean {
  const { settings, removed } = findDifferences(job, manifest)
  return settings.length + removed.length === 0
}

/** Throws OUTPUT_CHANGED if the job's rows do not fit into the export. */
function requireSameJob(job: Job, manifest: Manifest): void {
  if (isSameJob(job, manifest)) return
  const { settings, removed } = findDifferences(job, manifest)
  throw outputChanged({
    what: `${outputName(job)} contains an export of another job`,
    settings,
    others: removed.length > 0 ? [`tables had ${removed.join(', ')}`] : [],
    fix: 'Choose another --output, or start over with --fresh.',
  })
}

/** The fixed settings that differ, and the tables of the export that the job lacks. */
function findDifferences(job: Job, { job: exported, tables }: Manifest) {
  // Blocks have no listing of internal transactions.
  const keys = FIXED_SETTINGS.filter((key) => job.kind === 'wallets' || key !== 'internals')
  const jobSettings = { ...job, api: job.service.api }
  const settings = keys.flatMap((key) => {
    const [previous, current] = [
      exported[key] ?? DEFAULT_SETTINGS[key],
      jobSettings[key] ?? DEFAULT_SETTINGS[key],
    ]
    return previous === current ? [] : { field: key === 'api' ? API_FIELD : key, previous, current }
  })
  const removed = Object.keys(tables).filter((table) => job.tables.every((name) => name !== table))
  return { settings, removed }
}

const FIXED_SETTINGS = [
  'kind',
  'chain',
  'startBlock',
  'endBlock',
  'format',
  'table',
  'numbers',
  'partitionBy',
  'internals',
  'api',
] as const
/** Values of settings that a job or manifest omits. */
const DEFAULT_SETTINGS = {
  kind: 'wallets',
  endBlock: 'the head',
  table: 'files',
  numbers: 'text',
  partitionBy: 'none',
  internals: 'listing',
  chain: undefined,
  startBlock: undefined,
  format: undefined,
  api: DEFAULT_API,
}

/** Whether every file of the manifest exists with the listed size. */
export async function areFilesInPlace(store: FileSizes, manifest: Manifest): Promise<boolean> {
  return (await firstDamagedBlock(store, manifest)) === Number.POSITIVE_INFINITY
}

/** Returns the sizes of published files. */
export type FileSizes = Pick<Store, 'size'>

async function firstDamagedBlock(store: FileSizes, { tables }: Manifest): Promise<number> {
  const files = Object.values(tables).flatMap(({ files }) => files)
  const sizes = await Promise.all(files.map(({ path }) => store.size(path)))
  const damaged = files.filter(({ bytes }, at) => bytes !== sizes[at])
  return damaged.reduce((first, { fromBlock }) => Math.min(first, fromBlock), Number.POSITIVE_INFINITY)
}

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
