import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { DecimalsOfRow } from '../../core/model/token-decimals.ts'
import { type TableName, tableByName } from '../../core/table/index.ts'
import { type AppendFile, openAppendFile } from '../../files/chunk.ts'
import type { FileFormat } from '../../files/write-table.ts'
import type { CsvFormatter, LineBuffer } from '../../formats/csv-lines.ts'
import { FORMATS } from '../../formats/index.ts'
import type { FlatTransaction } from '../flatten-transaction.ts'
import type { Flattener } from '../flatten-views.ts'
import type { PageItems, WalletItem } from '../merge/page-items.ts'
import {
  FLAGS,
  type IndexLocation,
  indexBytes,
  type OpenFee,
  openFeesIn,
  type PageIndex,
  type TableLines,
} from './page-index.ts'

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
  const index = emptyIndex(files, { transactions: items.length, entries })
  const transactions = stageItems(items, { index, files, flatten })
  if (files.isFull()) files.flush()
  const bytes = indexBytes(index)
  const offset = files.indexes.end
  files.indexes.append(bytes)
  return {
    index: { thread: threadId, offset, bytes: bytes.length },
    transactions,
    openFees: index.openFees.length,
    firstOpenFee: openFeesIn(index)[0],
    rows: Object.fromEntries(
      files.tables.map(({ name }, table) => [name, index.lines[table]?.rows.at(-1) ?? 0]),
    ),
  }
}

type PageStage = { index: PageIndex; files: StageFiles; flatten: Flattener }

/** Returns the number of transactions that could be normalized. */
function stageItems(items: PageItems['items'], { index, files, flatten }: PageStage): number {
  const decimals: PageDecimals = { all: index.decimals, newest: new Map() }
  let [at, normalized] = [0, 0]
  const onReject = (line: string) => void index.rejects.push([at, line])
  for (const item of items) {
    const flat = flatten([item], onReject)
    addToIndex(index, { at, item, flat })
    if (flat !== undefined) {
      addDecimals(decimals, flat.rows)
      normalized += 1
    }
    addLines({ index, files, at }, flat)
    at += 1
  }
  return normalized
}

type IndexEntry = { at: number; item: WalletItem; flat: FlatTransaction | undefined }

function addToIndex(index: PageIndex, { at, item, flat }: IndexEntry): void {
  const { key, listIndex } = item
  index.block[at] = key.block
  index.index[at] = key.index
  index.hash.push(key.hash)
  index.timeMs[at] = key.timeMs
  index.listIndex[at] = listIndex
  if (flat === undefined) return
  const { openPrice, prefix, repeatedLogs } = flat
  index.flags[at] =
    FLAGS.isNormalized +
    (flat.isStatusUnknown ? FLAGS.isStatusUnknown : 0) +
    (flat.isFeeUnknown ? FLAGS.isFeeUnknown : 0) +
    (flat.isFeeUpperBound ? FLAGS.isFeeUpperBound : 0)
  if (openPrice !== undefined && prefix.block_hash !== null)
    index.openFees.push([at, prefix.block_hash, openPrice])
  if (repeatedLogs > 0) index.repeatedLogs.push([at, repeatedLogs])
}

/** The decimals of the tokens in the rows of a page. */
type PageDecimals = {
  readonly all: DecimalsOfRow[]
  /** The decimals of the newest row by token: usually those of the next one too. */
  readonly newest: Map<string, number>
}

/** Adds the decimals of the tokens in the rows of a transaction. */
function addDecimals(
  to: PageDecimals,
  { erc20_transfers, erc1155_transfers, ledger }: FlatTransaction['rows'],
): void {
  for (const row of erc20_transfers) addDecimalsOf(to, row.token_address, row.token_decimals)
  for (const row of erc1155_transfers)
    if (row.metadata_decimals !== null)
      addDecimalsOf(to, `${row.token_address}/${row.token_id}`, row.metadata_decimals)
  for (const { asset_type: type, asset_address: address, token_id: id, asset_decimals } of ledger)
    if (type === 'erc20') addDecimalsOf(to, address ?? '', asset_decimals)
    else if (type === 'erc1155' && asset_decimals !== null)
      addDecimalsOf(to, `${address}/${id}`, asset_decimals)
}

function addDecimalsOf({ all, newest }: PageDecimals, token: string, decimals: number | null): void {
  if (decimals === null || newest.get(token) === decimals) return
  newest.set(token, decimals)
  if (!all.some(([other, stated]) => other === token && stated === decimals)) all.push([token, decimals])
}

function emptyIndex(
  { tables }: StageFiles,
  { transactions, entries }: { transactions: number; entries: number },
): PageIndex {
  const lines = tables.map((table) => {
    const [ends, rows] = [new Uint32Array(transactions), new Uint32Array(transactions)]
    return { start: table.position(), ends, rows, maxLineBytes: 0 }
  })
  return {
    block: new Float64Array(transactions),
    index: new Float64Array(transactions),
    hash: [],
    timeMs: new Float64Array(transactions),
    listIndex: new Uint32Array(transactions),
    flags: new Uint8Array(transactions),
    openFees: [],
    lines,
    rejects: [],
    repeatedLogs: [],
    decimals: [],
    entries,
  }
}

function addLines(
  { index, files: { csv, tables }, at }: { index: PageIndex; files: StageFiles; at: number },
  flat: FlatTransaction | undefined,
): void {
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
    staged.rows[at] = (staged.rows[at - 1] ?? 0) + rows.length
    staged.ends[at] = (staged.ends[at - 1] ?? 0) + lines.size() - sizeBefore
  }
}

const NONE: readonly never[] = []

/** A thread's staging files: one file of lines per table, one of page indexes and one of fingerprints. */
export type StageFiles = {
  csv: CsvFormatter
  tables: readonly TableStage[]
  indexes: AppendFile
  hashes: AppendFile
  /** Whether enough lines are buffered to write them. */
  isFull(): boolean
  /** Writes all buffered lines. */
  flush(): void
  /** Writes all buffered lines and closes the files. Lines that are staged later are appended. */
  close(): void
}

/** One table's staging file and its line buffer, which avoids a write call per page. */
type TableStage = {
  name: TableName
  lines: LineBuffer
  file: AppendFile
  /** Byte offset in the file at which the next line will begin. */
  position(): number
}

export type StageFormat = Pick<FileFormat, 'format' | 'escapeFormulas'> & {
  tables: readonly TableName[]
  /** Folder of the staging files. */
  folder: string
}

/** Approximate size of a write in bytes. */
const FULL_BYTES = 1 << 19

/** Path of a thread's staging file for a table, or for `indexes` or `hashes`. */
export const linesPath = (folder: string, name: string, thread: number) =>
  join(folder, `${name}-${thread}.lines`)

/** Opens this thread's staging files. A file is created on its first write. */
export function openStageFiles(format: StageFormat): StageFiles {
  const { folder } = format
  const csv = FORMATS[format.format].createLineFormatter(format)
  const fileOf = (name: string) => openAppendFile(linesPath(folder, name, threadId))
  const tables = format.tables.map((name): TableStage => {
    const file = fileOf(name)
    const lines = csv.createLineBuffer(tableByName(name).columns)
    return { name, lines, file, position: () => file.end + lines.size() }
  })
  const [indexes, hashes] = [fileOf('indexes'), fileOf('hashes')]
  const isFull = () => tables.reduce((sum, { lines }) => sum + lines.size(), 0) >= FULL_BYTES
  const flush = () => {
    for (const { lines, file } of tables) file.append(lines.drain().bytes)
  }
  return {
    csv,
    tables,
    indexes,
    hashes,
    isFull,
    flush,
    close: () => {
      flush()
      for (const file of [...tables.map((table) => table.file), indexes, hashes]) file.close()
    },
  }
}
