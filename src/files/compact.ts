import { basename, join } from 'node:path'
import { firstCheckpointedBlock } from '../checkpoint/inspect-checkpoint.ts'
import { loadDuckDb } from '../core/duckdb/connection.ts'
import { ExportError } from '../core/model/errors.ts'
import { type Manifest, type ManifestFile, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import type { BlockRange, Compression, FormatName, Job, NumberFormat } from '../core/model/model.ts'
import { makePartsFolder, removePartsFolder } from '../core/model/parts-folder.ts'
import { diskError, hashFile, makeFolder } from '../core/platform/disk.ts'
import { largest } from '../core/platform/extremes.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { TABLES, type Table } from '../core/table/index.ts'
import { typedColumns } from '../formats/column-sql.ts'
import type { MergingByLines, MergingByRows } from '../formats/format.ts'
import { FORMATS, selectSql, unsplitFile } from '../formats/index.ts'
import { requireManifest } from '../read/dataset.ts'
import { inspectStore, openStore } from '../storage/open-store.ts'
import type { Store } from '../storage/store.ts'
import { notDecimalIn } from './build-manifest.ts'
import { numberOfPath, partitionOfPath, partPath } from './part-path.ts'
import { publish, removeOrphans } from './publish.ts'
import { type Part, writeTable } from './write-table.ts'

export type CompactOptions = {
  /** Maximum number of rows in a file. @default 1000000 */
  maxRowsPerFile?: number
}

/** An output folder, or an object store location with its local work folder. */
export type OutputLocation = Pick<Job, 'output' | 'store'>

export type CompactionResult = {
  /** Number of files that the manifest listed before and lists after. Equal if there was nothing to merge. */
  before: number
  after: number
  changed: boolean
  /** Number of removed part files that no manifest listed, such as those of a killed run. */
  orphans: number
}

/**
 * Merges the small files of an output, such as those appended by incremental runs, into fewer ones. Rows, their order,
 * coverage and rejects do not change. If it is interrupted, the output is entirely the old one or entirely the new one.
 *
 * Throws USAGE if there is no export, OUTPUT_LOCKED, VERIFY_FAILED if the manifest is damaged or a file does not match it,
 * OUTPUT_FAILED, and CATALOG_FAILED for Iceberg tables.
 */
export async function compactOutput(
  target: string | OutputLocation,
  options: CompactOptions = {},
): Promise<CompactionResult> {
  const location = typeof target === 'string' ? { output: target } : target
  await inspectStore(location)
  const { job } = await requireManifest(location.output)
  const release = await lockOutput(join(location.output, PRIVATE_FOLDER))
  try {
    const store = await openStore(location)
    try {
      // What a killed run did not commit adds rows, so it must not become part of the `replace`.
      if (job.table === 'iceberg') await commitTables(store, location)
      const result = await compactLocked(store, options.maxRowsPerFile ?? 1_000_000)
      if (job.table === 'iceberg') await commitTables(store, location, { isRewrite: true })
      return result
    } finally {
      await store.close()
    }
  } finally {
    await release()
  }
}

async function commitTables(
  store: Store,
  location: OutputLocation,
  options: { isRewrite?: boolean } = {},
): Promise<void> {
  const { commitToCatalog } = await import('../iceberg/index.ts')
  await commitToCatalog({ store, location: location.store }, options)
}

async function compactLocked(store: Store, maxRows: number): Promise<CompactionResult> {
  const output = store.folder
  const manifest = await requireManifest(output)
  const privateFolder = join(output, PRIVATE_FOLDER)
  // The checkpoint has pages from this block on only. A file that begins here lets the next run continue from it.
  const lookback = await firstCheckpointedBlock(privateFolder)
  const listed = Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path))
  await store.confirmManifest()
  // Earlier snapshots of an Iceberg table list files that the manifest no longer lists.
  const isIceberg = manifest.job.table === 'iceberg'
  const orphans = isIceberg ? 0 : await removeOrphans(store, new Set(listed))
  const tables: Manifest['tables'] = {}
  const parts = []
  const folder = await makePartsFolder(privateFolder)
  try {
    for (const table of TABLES) {
      const listed = manifest.tables[table.name]
      if (listed === undefined) continue
      await store.ensureLocal(listed.files)
      const { format, compression, numbers } = manifest.job
      const source = { output, folder, table, files: listed.files, format, compression, numbers }
      const compact = await compactTable({ ...source, maxRows, lookback })
      const { notDecimal: _, ...unchanged } = listed
      tables[table.name] = { ...unchanged, ...notDecimalIn(compact.files), files: compact.files }
      for (const each of compact.parts) parts.push(each)
    }
    if (parts.length > 0)
      await publish({ store, manifest: { ...manifest, tables }, parts, rejects: undefined })
  } finally {
    await removePartsFolder(folder)
  }
  return {
    before: countFiles(manifest.tables),
    after: countFiles(tables),
    changed: parts.length > 0,
    orphans,
  }
}

function countFiles(tables: Manifest['tables']): number {
  return Object.values(tables).reduce((sum, { files }) => sum + files.length, 0)
}

type TableCompaction = {
  /** Output folder. */
  output: string
  /** Folder where new files are staged; on the file system of the output. */
  folder: string
  table: Table
  files: readonly ManifestFile[]
  format: FormatName
  compression: Compression
  numbers: NumberFormat | undefined
  maxRows: number
  lookback: number
}

type CompactTable = {
  /** All files of the table, in order. */
  files: ManifestFile[]
  /** The new files among them. */
  parts: Part[]
}

/**
 * Merges the small files of a table into staged files. Rows, their order and their values do not change. Throws
 * VERIFY_FAILED if a file does not match its hash in the manifest, and OUTPUT_FAILED.
 */
async function compactTable(compaction: TableCompaction): Promise<CompactTable> {
  const { files: listedFiles, maxRows, lookback, table } = compaction
  const result: CompactTable = { files: [], parts: [] }
  for (const [at, step] of planCompaction(listedFiles, { maxRows, lookback }).entries()) {
    if (step.kind === 'keep') {
      result.files.push(step.file)
      continue
    }
    for (const file of step.files) await requireUnchanged(compaction.output, file)
    // Files of different partitions may have the same name.
    const folder = join(compaction.folder, `${table.name}-${at}`)
    await makeFolder(folder)
    const parts = await mergeFiles(step, { ...compaction, folder })
    for (const each of parts) result.parts.push(each)
    for (const each of parts.map(({ staged: _staged, ...file }) => file)) result.files.push(each)
  }
  return result
}

type Merge = Extract<CompactionStep, { kind: 'merge' }>

/** Checks a file before it is merged. Otherwise damaged content would get a new, matching hash. */
async function requireUnchanged(output: string, { path, sha256 }: ManifestFile): Promise<void> {
  const found = await hashFile(join(output, path)).catch((cause: unknown) => {
    throw diskError(`cannot read ${path}`, cause)
  })
  if (found !== sha256)
    throw new ExportError('VERIFY_FAILED', `${path} is not the file that the manifest lists`)
}

function mergeFiles(step: Merge, compaction: TableCompaction): Promise<Part[]> {
  const { merging } = FORMATS[compaction.format]
  return merging.by === 'lines'
    ? mergeByLines(step, compaction, merging)
    : mergeByRows(step, compaction, merging)
}

/** Distributes the lines of the old files among new files, unchanged. */
async function mergeByLines(
  step: Merge,
  compaction: TableCompaction,
  { copyLines }: MergingByLines,
): Promise<Part[]> {
  const { output, folder, table, maxRows } = compaction
  const chunks = []
  for (const [at, { path, rows }] of step.files.entries()) {
    const to = join(folder, `${table.name}-${at}.lines`)
    const lines = await copyLines(join(output, path), to, table.columns)
    chunks.push({ ...lines, rows, maxLineBytes: 0, partition: step.partition })
  }
  const { range, firstNumber } = step
  return writeTable({
    ...compaction,
    chunks,
    range,
    firstNumber,
    maxRowsPerFile: maxRows,
    escapeFormulas: false,
  })
}

/** Writes each new file by a query over the old files that contain its rows. */
async function mergeByRows(
  step: Merge,
  compaction: TableCompaction,
  { writeRows }: MergingByRows,
): Promise<Part[]> {
  const { output, folder, table, format, compression, numbers, maxRows } = compaction
  const columns = table.columns.map(({ name }) => `"${name}"`)
  const total = step.files.reduce((sum, { rows }) => sum + rows, 0)
  const parts: Part[] = []
  for (let from = 0; from < total; from += maxRows) {
    const number = step.firstNumber + parts.length
    const path = partPath({ ...compaction, ...step, table: table.name, number })
    const staged = join(folder, basename(path))
    const rows = Math.min(maxRows, total - from)
    const { files, skip } = filesInRowRange(step.files, { from, to: from + rows })
    const sources = files.map((file) => unsplitFile(join(output, file.path), format))
    const selected = selectSql(sources, columns, typedColumns(table.columns))
    const select = `${selected} limit ${rows} offset ${skip}`
    const size = { rows, bytes: await lineBytes(compaction, select) }
    const digest = await writeRows({ path: staged, table, compression, numbers, size }, select)
    const { from: fromBlock, to: toBlock } = step.range
    parts.push({ staged, path, rows, ...digest, fromBlock, toBlock })
  }
  return parts
}

/** Returns the approximate size of the rows as CSV lines, in bytes. */
async function lineBytes({ table, format }: TableCompaction, select: string): Promise<number> {
  const cells = table.columns.map(({ name }) => `coalesce(strlen("${name}"::varchar), 0) + 1`)
  const { DuckDBInstance } = await loadDuckDb()
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '800MB' })
  try {
    const connection = await instance.connect()
    const read = await connection.runAndReadAll(
      `select coalesce(sum(${cells.join(' + ')}), 0)::double from (${select})`,
    )
    connection.closeSync()
    return Number(read.getRows()[0]?.[0])
  } catch (cause) {
    throw new ExportError(
      'OUTPUT_FAILED',
      `cannot read ${table.name} from its ${FORMATS[format].title} files`,
      { cause },
    )
  } finally {
    instance.closeSync()
  }
}

/** Returns the files that contain a range of rows of the table, and how many rows of the first file precede it. */
function filesInRowRange(files: readonly ManifestFile[], { from, to }: { from: number; to: number }) {
  const found: ManifestFile[] = []
  let [row, skip] = [0, 0]
  for (const file of files) {
    const end = row + file.rows
    if (row < to && end > from) {
      if (found.length === 0) skip = from - row
      found.push(file)
    }
    row = end
  }
  return { files: found, skip }
}

export type CompactionLimits = {
  /** Maximum number of rows in a file. */
  maxRows: number
  /** First block that a run can read again. No merged file contains blocks on both sides of it. */
  lookback: number
}

/** Keeps one file, or merges several into fewer. `range` and `firstNumber` go into the names of the merged files. */
export type CompactionStep =
  | { kind: 'keep'; file: ManifestFile }
  | {
      kind: 'merge'
      files: readonly ManifestFile[]
      partition: string | undefined
      range: BlockRange
      firstNumber: number
    }

/**
 * Plans which files of a table, given in order, are merged. Full files at the start of a group are kept, so that a long
 * table is not rewritten every time. Only consecutive files of the same partition and on the same side of the lookback
 * block are merged. New names differ from existing ones, so the files of the old manifest stay intact until the new
 * manifest replaces it.
 */
export function planCompaction(
  files: readonly ManifestFile[],
  { maxRows, lookback }: CompactionLimits,
): CompactionStep[] {
  return groupForMerge(files, lookback).flatMap((group) => planGroup(group, maxRows))
}

/** Groups consecutive files that may be merged: those of one partition, on one side of the lookback block. */
function groupForMerge(files: readonly ManifestFile[], lookback: number): ManifestFile[][] {
  const groups: ManifestFile[][] = []
  const groupKey = ({ path, toBlock }: ManifestFile) => `${toBlock <= lookback} ${partitionOfPath(path)}`
  for (const file of files) {
    const last = groups.at(-1)
    if (last?.[0] !== undefined && groupKey(last[0]) === groupKey(file)) last.push(file)
    else groups.push([file])
  }
  return groups
}

function planGroup(group: readonly ManifestFile[], maxRows: number): CompactionStep[] {
  const firstPartial = group.findIndex(({ rows }) => rows !== maxRows)
  const full = firstPartial < 0 ? group : group.slice(0, firstPartial)
  const files = group.slice(full.length)
  const keep = (file: ManifestFile): CompactionStep => ({ kind: 'keep', file })
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const isCompact = files.length <= Math.ceil(rows / maxRows) && files.every((file) => file.rows <= maxRows)
  const [first, last] = [files[0], files.at(-1)]
  if (first === undefined || last === undefined || isCompact || (files.length === 1 && rows <= maxRows))
    return group.map(keep)
  const range = { from: first.fromBlock, to: largest(files.map(({ toBlock }) => toBlock)) }
  const sameRange = [
    ...full.filter(({ fromBlock }) => fromBlock === range.from),
    ...files.filter(({ fromBlock, toBlock }) => fromBlock === range.from && toBlock === range.to),
  ]
  const firstNumber =
    1 +
    largest(
      sameRange.map(({ path }) => numberOfPath(path)),
      -1,
    )
  const partition = partitionOfPath(first.path)
  return [...full.map(keep), { kind: 'merge', files, partition, range, firstNumber }]
}
