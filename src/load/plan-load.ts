import { subtractRange, unionRanges } from '../core/model/block-ranges.ts'
import type { Manifest, ManifestFile } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { chainIdsOf, type LoadRecord, type OutputIdentity } from './records.ts'
import type { TableBlocks } from './target.ts'

/** Files of a table whose rows are merged into the target together. */
export type TableMerge = {
  readonly table: Table
  readonly files: readonly ManifestFile[]
  /** Blocks of files that were replaced or removed: rows of these blocks that the files lack are deleted. */
  readonly removed: TableBlocks
  /** Blocks of files that stay as they are: a key of `files` that the target has there occurs twice in the export. */
  readonly kept: TableBlocks
  /** Records of files that the export no longer has. They are deleted after the merge, so that it can be repeated. */
  readonly obsoleteRecords: readonly LoadRecord[]
}

export type LoadPlan = {
  /**
   * Merges that belong together: first one step per new file, then one with the corrections of all tables. A row that
   * moved from a replaced file to a new one is thus updated, and not deleted and inserted again.
   */
  readonly steps: readonly (readonly TableMerge[])[]
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
 * removed, every file that overlaps their blocks is merged again, so that rows that the export no longer has disappear.
 * Blocks that another output loaded too are updated without deleting rows.
 */
export function planLoad({ manifest, identity, records, tables }: PlanInput): LoadPlan {
  const plans = tables.flatMap((table) => {
    const listed = manifest.tables[table.name]
    return listed === undefined ? [] : [planTable({ table, files: listed.files, identity, records })]
  })
  const corrections = plans.flatMap(({ corrections }) => corrections)
  return {
    steps: [
      ...plans.flatMap(({ additions }) => additions.map((merge) => [merge])),
      ...(corrections.length === 0 ? [] : [corrections]),
    ],
    skipped: plans.reduce((sum, { skipped }) => sum + skipped, 0),
    notices: [
      ...plans.flatMap(({ notices }) => notices),
      ...unexportedTableNotices({ manifest, identity, records, tables }),
    ],
  }
}

type TableInput = Pick<PlanInput, 'identity' | 'records'> & { table: Table; files: readonly ManifestFile[] }
type TablePlan = {
  /** One merge per new file. */
  additions: TableMerge[]
  /** A merge of the files that overlap changed blocks, if there are any. */
  corrections: TableMerge[]
  skipped: number
  notices: string[]
}

function planTable({ table, files, identity, records }: TableInput): TablePlan {
  const tableRecords = records.filter((record) => record.table === table.name)
  const ownRecords = tableRecords.filter(({ outputId }) => outputId === identity.outputId)
  const isLoaded = (file: ManifestFile) => ownRecords.some((record) => isSame(record, file))
  const obsoleteRecords = ownRecords.filter((record) => !files.some((file) => isSame(record, file)))
  const removedRanges = unionRanges(obsoleteRecords.filter(hasRows).map(rangeOf))
  // Earlier loads may have had other chain ids, so the ids of all records count.
  const chainIds = [...new Set([identity.chainId, ...ownRecords.flatMap(chainIdsOf)])]
  const sharesChain = (record: LoadRecord) => chainIdsOf(record).some((id) => chainIds.includes(id))
  const otherRecords = tableRecords.filter(
    (record) => record.outputId !== identity.outputId && sharesChain(record) && hasRows(record),
  )
  const deletedRanges = subtractAll(removedRanges, otherRecords.map(rangeOf))
  const [loaded, unloaded] = split(files, isLoaded)
  const [reloaded, skipped] = split(loaded, (file) => overlaps(deletedRanges, rangeOf(file)))
  const [changed, added] = split(unloaded, (file) => overlaps(removedRanges, rangeOf(file)))
  const keptRanges = subtractAll(unionRanges(skipped.filter(hasRows).map(rangeOf)), [
    ...removedRanges,
    ...otherRecords.map(rangeOf),
  ])
  const mergeOf = (merged: readonly ManifestFile[], ranges: readonly BlockRange[]) => ({
    table,
    files: merged,
    removed: { chainIds, ranges },
    // A load that failed may have left rows of these files in blocks that they share with others.
    kept: { chainIds, ranges: subtractAll(keptRanges, merged.map(rangeOf)) },
  })
  const corrected = [...changed, ...reloaded]
  const isCorrected = corrected.length > 0 || obsoleteRecords.length > 0
  return {
    additions: added.map((file) => ({ ...mergeOf([file], []), obsoleteRecords: [] })),
    corrections: isCorrected ? [{ ...mergeOf(corrected, deletedRanges), obsoleteRecords }] : [],
    skipped: skipped.length,
    notices: sharedNotices(table, removedRanges, otherRecords),
  }
}

const subtractAll = (ranges: readonly BlockRange[], subtracted: readonly BlockRange[]) =>
  subtracted.reduce<readonly BlockRange[]>((rest, range) => subtractRange(rest, range), ranges)

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
