import { subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { Manifest, ManifestFile } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { chainIdsOf, type OutputIdentity } from './output-identity.ts'
import type { LoadRecord } from './target.ts'

export type PlannedFile = {
  readonly table: Table
  readonly file: ManifestFile
  /** Whether the file was loaded before: its rows outside the deleted blocks are still in the target. */
  readonly reload: boolean
}
type BlockDeletion = {
  readonly table: Table
  readonly range: BlockRange
  readonly chainIds: readonly string[]
}

/**
 * Changes that belong together. They are applied in the order of the fields, so that a target without transactions can
 * be interrupted between any two of them: files without a record are loaded again.
 */
export type LoadStep = {
  /** Records of files that the export still has, some of whose rows are about to be deleted. */
  readonly recordsToReload: readonly LoadRecord[]
  readonly deletions: readonly BlockDeletion[]
  /** Records of files that the export no longer has. */
  readonly obsoleteRecords: readonly LoadRecord[]
  readonly files: readonly PlannedFile[]
}

export type LoadPlan = {
  /** First one step with the corrections of all tables, then one step per new file. */
  readonly steps: readonly LoadStep[]
  /** Number of files that are already loaded. */
  readonly skipped: number
  /** Messages for the user. */
  readonly notices: readonly string[]
}

export type PlanInput = {
  readonly manifest: Manifest
  readonly identity: OutputIdentity
  readonly records: readonly LoadRecord[]
  readonly tables: readonly Table[]
}

/**
 * Compares a manifest with the records of this output's loads. Unchanged files are skipped. If files were replaced or
 * removed, the rows of their blocks are deleted and every file that overlaps these blocks is loaded again, so that rows
 * that the export no longer has disappear. Blocks that another output loaded too are updated without deleting rows.
 */
export function planLoad({ manifest, identity, records, tables }: PlanInput): LoadPlan {
  const plans = tables.flatMap((table) => {
    const listed = manifest.tables[table.name]
    return listed === undefined ? [] : [planTable({ table, files: listed.files, identity, records })]
  })
  const corrections: LoadStep = {
    recordsToReload: plans.flatMap(({ recordsToReload }) => recordsToReload),
    deletions: plans.flatMap(({ deletions }) => deletions),
    files: plans.flatMap(({ corrections }) => corrections),
    obsoleteRecords: plans.flatMap(({ obsoleteRecords }) => obsoleteRecords),
  }
  const isEmpty = corrections.files.length === 0 && corrections.obsoleteRecords.length === 0
  const noCorrections = { recordsToReload: [], deletions: [], obsoleteRecords: [] }
  const additions = plans.flatMap(({ added }) => added).map((file) => ({ ...noCorrections, files: [file] }))
  return {
    steps: isEmpty ? additions : [corrections, ...additions],
    skipped: plans.reduce((sum, { skipped }) => sum + skipped, 0),
    notices: [
      ...plans.flatMap(({ notices }) => notices),
      ...unexportedTableNotices({ manifest, identity, records, tables }),
    ],
  }
}

type TableInput = Pick<PlanInput, 'identity' | 'records'> & { table: Table; files: readonly ManifestFile[] }
type TablePlan = {
  recordsToReload: LoadRecord[]
  deletions: BlockDeletion[]
  /** Files that overlap changed blocks. */
  corrections: PlannedFile[]
  obsoleteRecords: LoadRecord[]
  added: PlannedFile[]
  skipped: number
  notices: string[]
}

function planTable({ table, files, identity, records }: TableInput): TablePlan {
  const tableRecords = records.filter((record) => record.table === table.name)
  const ownRecords = tableRecords.filter(({ outputId }) => outputId === identity.outputId)
  const recordFor = (file: ManifestFile) => ownRecords.find((record) => isSame(record, file))
  const obsolete = ownRecords.filter((record) => !files.some((file) => isSame(record, file)))
  const removedRanges = unionRanges(obsolete.filter(hasRows).map(rangeOf))
  // Earlier loads may have had other chain ids, so the ids of all records count.
  const chainIds = [...new Set([identity.chainId, ...ownRecords.flatMap(chainIdsOf)])]
  const sharesChain = (record: LoadRecord) => chainIdsOf(record).some((id) => chainIds.includes(id))
  const otherRecords = tableRecords.filter(
    (record) => record.outputId !== identity.outputId && sharesChain(record) && hasRows(record),
  )
  const deletedRanges = otherRecords
    .map(rangeOf)
    .reduce((ranges, range) => subtractRange(ranges, range), removedRanges)
  const unloaded = files.filter((file) => recordFor(file) === undefined)
  const [changed, added] = split(unloaded, (file) => overlaps(removedRanges, rangeOf(file)))
  const reloaded = files.filter((file) => !unloaded.includes(file) && overlaps(deletedRanges, rangeOf(file)))
  return {
    recordsToReload: reloaded.flatMap((file) => recordFor(file) ?? []),
    deletions: deletedRanges.map((range) => ({ table, range, chainIds })),
    corrections: [
      ...changed.map((file) => ({ table, file, reload: false })),
      ...reloaded.map((file) => ({ table, file, reload: true })),
    ],
    obsoleteRecords: obsolete,
    added: added.map((file) => ({ table, file, reload: false })),
    skipped: files.length - unloaded.length - reloaded.length,
    notices: sharedNotices(table, removedRanges, otherRecords),
  }
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

function isSame(record: LoadRecord, file: ManifestFile): boolean {
  const { from, to } = rangeOf(record)
  return (
    record.path === file.path &&
    record.sha256 === file.sha256 &&
    from === file.fromBlock &&
    to === file.toBlock
  )
}

const hasRows = ({ rows }: { rows: number }) => rows > 0

const rangeOf = ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }): BlockRange => ({
  from: fromBlock,
  to: toBlock,
})

const overlaps = (ranges: readonly BlockRange[], { from, to }: BlockRange) =>
  ranges.some((range) => range.from < to && from < range.to)

function sharedNotices(
  table: Table,
  removedRanges: readonly BlockRange[],
  otherRecords: readonly LoadRecord[],
): string[] {
  const jobs = new Set(
    otherRecords.filter((record) => overlaps(removedRanges, rangeOf(record))).map(({ job }) => job),
  )
  return [...jobs].map(
    (job) =>
      `${table.name}: changed blocks are also loaded from the output ${job}: rows were updated, none were removed`,
  )
}

/** Reports tables that earlier loads brought and the export no longer contains. */
function unexportedTableNotices({ manifest, identity, records, tables }: PlanInput): string[] {
  return TABLES.filter(({ name }) => {
    const isRequested = tables.some((table) => table.name === name)
    const isLoaded = records.some((record) => record.outputId === identity.outputId && record.table === name)
    return isRequested && isLoaded && manifest.tables[name] === undefined
  }).map(({ name }) => `${name}: this export no longer contains the table; its rows were left unchanged`)
}
