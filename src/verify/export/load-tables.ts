import { dirname } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest, ManifestFile, ManifestTable } from '../../core/model/manifest.ts'
import { scratchFault } from '../../core/platform/scratch-folder.ts'
import type { Table, TableName } from '../../core/table/index.ts'
import { TABLES } from '../../core/table/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { Rows } from '../../read/scratch-database.ts'
import type { Lake } from './checked-export.ts'
import { checkFile, differs } from './files.ts'
import { readHeader } from './header.ts'
import { createScratch, type FilePlace, loadFile } from './load-file.ts'
import { checkParquetSchema } from './parquet-schema.ts'

export type Loading = {
  /** The output folder. */
  readonly folder: string
  readonly rows: Rows
  readonly manifest: Manifest
  readonly findings: Findings
  readonly onProgress: (message: string) => void
}

/** Re-hashes every listed file and re-reads every row into scratch tables. */
export async function loadTables(loading: Loading): Promise<Lake> {
  const whole = new Set<TableName>()
  for (const table of TABLES) {
    const listed = loading.manifest.tables[table.name]
    if (listed === undefined) continue
    checkListed(table, listed, loading.findings)
    await createScratch(loading.rows, table)
    if (await loadFiles(loading, table, listed.files)) whole.add(table.name)
  }
  return { rows: loading.rows, manifest: loading.manifest, findings: loading.findings, whole }
}

/** What the manifest says of one table has to agree with itself. */
function checkListed({ name }: Table, listed: ManifestTable, findings: Findings): void {
  const place = `manifest.json: tables.${name}`
  const rows = listed.files.reduce((sum, file) => sum + file.rows, 0)
  findings.expect(rows === listed.rows, () =>
    differs(place, 'rows', { expected: `${listed.rows} in its files`, found: rows }),
  )
  findings.expect(listed.files.length > 0, () => `${place}: files: expected at least one, found none`)
  checkSequence(place, listed.files, findings)
}

/** Files of one block range are numbered upwards, each there once; a later run's range comes after the ranges before it. */
function checkSequence(place: string, files: readonly ManifestFile[], findings: Findings): void {
  for (const [at, { path, fromBlock, toBlock }] of files.entries()) {
    findings.expect(
      fromBlock <= toBlock,
      () => `${path}: expected fromBlock up to toBlock ${toBlock}, found ${fromBlock}`,
    )
    const before = files[at - 1]
    if (before === undefined) continue
    const isOtherPartition = dirname(path) !== dirname(before.path)
    const follows =
      before.fromBlock < fromBlock ||
      (before.fromBlock === fromBlock && (isOtherPartition || numberOf(before.path) < numberOf(path)))
    findings.expect(follows, () => {
      return `${place}: files: expected them in order, found ${path} after ${before.path}`
    })
  }
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.[a-z.]+$/.exec(path)?.[1])
}

async function loadFiles(loading: Loading, table: Table, files: readonly ManifestFile[]): Promise<boolean> {
  let whole = files.length > 0
  for (const [index, file] of files.entries()) {
    loading.onProgress(`reading ${file.path}`)
    whole = (await loadOne(loading, { table, index, file })) && whole
  }
  return whole
}

async function loadOne(loading: Loading, place: FilePlace): Promise<boolean> {
  const { folder, rows, manifest, findings } = loading
  const { table, file } = place
  if (!(await checkFile(folder, { table: table.name, manifest, file }, findings))) return false
  try {
    if (!(await hasColumns(loading, table, file.path))) return false
    await loadFile(loading, place)
    return true
  } catch (thrown) {
    const ofScratch = scratchFault(thrown, rows.scratch)
    if (ofScratch !== undefined) throw ofScratch
    // A temporary folder that cannot hold the rows says nothing about the export.
    if (thrown instanceof ExportError && thrown.code === 'OUTPUT_FAILED') throw thrown
    const why = String((thrown as Error).message)
      .replaceAll(`${rows.folder}/`, '')
      .slice(0, 300)
    return findings.expect(false, () => `${file.path}: cannot be read: ${why}`)
  }
}

async function hasColumns(loading: Loading, table: Table, path: string): Promise<boolean> {
  const { rows, manifest, findings } = loading
  if (manifest.job.format === 'parquet') return checkParquetSchema(rows, { path, table }, findings)
  const expected = table.columns.map((column) => column.name).join(',')
  const found = await readHeader(`${rows.folder}/${path}`)
  return findings.expect(found === expected, () => differs(path, 'header', { expected, found }))
}
