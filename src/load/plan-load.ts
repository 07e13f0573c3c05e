import { subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { Manifest, ManifestFile } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { chainIdsOf, type OutputIdentity } from './output-identity.ts'
import type { LoadRecord } from './target.ts'

export type PlannedFile = {
  readonly table: Table
  readonly file: ManifestFile
  /** Its rows outside the cleared blocks are in the target still. */
  readonly reload: boolean
}
type BlockDeletion = {
  readonly table: Table
  readonly range: BlockRange
  readonly chainIds: readonly string[]
}

/**
 * Changes that belong together, in this order: a target without transactions may be stopped between any two of them, and
 * what it does not remember as loaded is loaded again.
 */
export type LoadStep = {
  /** Records of files that stay in the export but whose rows are about to be cleared. */
  readonly recordsToReload: readonly LoadRecord[]
  readonly deletions: readonly BlockDeletion[]
  /** Records of files that the export does not have any more. */
  readonly obsoleteRecords: readonly LoadRecord[]
  readonly files: readonly PlannedFile[]
}

export type LoadPlan = {
  /** First the corrections of all tables as one step, then each new file as a step of its own. */
  readonly steps: readonly LoadStep[]
  /** Files that are in the target already. */
  readonly skipped: number
  /** What a person has to know. */
  readonly notices: readonly string[]
}

export type PlanInput = {
  readonly manifest: Manifest
  readonly identity: OutputIdentity
  readonly records: readonly LoadRecord[]
  readonly tables: readonly Table[]
}

/**
 * Compares a manifest with what the target has of this output. Unchanged files are skipped. Where files were replaced
 * or are gone, their blocks are cleared and every file that touches these blocks is put in again, so that rows which
 * the export lost are gone too; blocks that another output also loaded are not cleared, but only updated.
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
  /** Files of blocks that changed. */
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
  // Whatever ids its rows have had: each file is recorded with its own.
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
      `${table.name}: blocks that changed are also loaded from the output ${job}: rows were updated there, none removed`,
  )
}

/** Tables that earlier loads brought and that the export does not write any more. */
function unexportedTableNotices({ manifest, identity, records, tables }: PlanInput): string[] {
  return TABLES.filter(({ name }) => {
    const isRequested = tables.some((table) => table.name === name)
    const isLoaded = records.some((record) => record.outputId === identity.outputId && record.table === name)
    return isRequested && isLoaded && manifest.tables[name] === undefined
  }).map(({ name }) => `${name}: this export does not write it any more; its rows were left as they are`)
}
