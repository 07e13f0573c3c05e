import { threadId } from 'node:worker_threads'
import type { TableName } from '../../core/table/index.ts'
import type { FlatTransaction } from '../flatten-transaction.ts'
import type { Flattener } from '../flatten-views.ts'
import type { PageItems } from '../merge/record-items.ts'
import {
  type IndexLocation,
  indexBytes,
  type OpenFee,
  openFeesIn,
  type PageIndex,
  type TableLines,
} from './page-index.ts'
import type { StageFiles, TableStage } from './stage-files.ts'

/** A page whose rows are staged. */
export type StagedPage = {
  index: IndexLocation
  transactions: number
  /** Number of rows by table. */
  rows: Partial<Record<TableName, number>>
  /** Number of transactions whose rows depend on prices that are not known, and the first of them. */
  openFees: number
  firstOpenFee: OpenFee | undefined
}

/**
 * Builds the rows of each item of a page, as if no other wallet had a view of its transaction, and stages
 * them as lines. The page index is written last. Throws OUTPUT_FAILED.
 */
export function stagePage({ items, entries }: PageItems, files: StageFiles, flatten: Flattener): StagedPage {
  const index = emptyIndex(files, entries)
  for (const [at, item] of items.entries()) {
    const flat = flatten([item], (line) => index.rejects.push([at, line]))
    index.block.push(item.key.block)
    index.index.push(item.key.index)
    index.hash.push(item.key.hash)
    index.timeMs.push(item.key.timeMs)
    index.listIndex.push(item.listIndex)
    index.isNormalized.push(flat !== undefined)
    index.isStatusUnknown.push(flat?.isStatusUnknown ?? false)
    index.isFeeUnknown.push(flat?.isFeeUnknown ?? false)
    index.isFeeUpperBound.push(flat?.isFeeUpperBound ?? false)
    const { openPrice, prefix } = flat ?? {}
    if (openPrice !== undefined && typeof prefix?.block_hash === 'string')
      index.openFees.push([at, prefix.block_hash, openPrice])
    if (flat !== undefined && flat.repeatedLogs > 0) index.repeatedLogs.push([at, flat.repeatedLogs])
    addLines(index, files, flat)
  }
  if (files.isFull()) files.flush()
  const bytes = indexBytes(index)
  const offset = files.indexes.end
  files.indexes.append(bytes)
  return {
    index: { thread: threadId, offset, bytes: bytes.length },
    transactions: index.isNormalized.filter(Boolean).length,
    openFees: index.openFees.length,
    firstOpenFee: openFeesIn(index)[0],
    rows: Object.fromEntries(
      files.tables.map(({ name }, table) => [name, index.lines[table]?.rows.at(-1) ?? 0]),
    ),
  }
}

function emptyIndex({ tables }: StageFiles, entries: number): PageIndex {
  const lines = tables.map((table) => ({ start: table.position(), ends: [], rows: [], maxLineBytes: 0 }))
  return {
    block: [],
    index: [],
    hash: [],
    timeMs: [],
    listIndex: [],
    isNormalized: [],
    isStatusUnknown: [],
    isFeeUnknown: [],
    isFeeUpperBound: [],
    openFees: [],
    lines,
    rejects: [],
    repeatedLogs: [],
    entries,
  }
}

function addLines(index: PageIndex, { csv, tables }: StageFiles, flat: FlatTransaction | undefined): void {
  const prefix = flat === undefined ? '' : csv.formatPrefix(flat.prefix)
  for (let table = 0; table < tables.length; table += 1) {
    const { name, lines } = tables[table] as TableStage
    const staged = index.lines[table] as TableLines
    const rows = flat === undefined ? NONE : flat.rows[name]
    const sizeBefore = lines.size()
    for (const row of rows) {
      const added = lines.add(row, prefix)
      if (added > staged.maxLineBytes) staged.maxLineBytes = added
    }
    staged.rows.push((staged.rows.at(-1) ?? 0) + rows.length)
    staged.ends.push((staged.ends.at(-1) ?? 0) + lines.size() - sizeBefore)
  }
}

const NONE: readonly never[] = []
