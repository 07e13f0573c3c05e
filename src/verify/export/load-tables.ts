import { dirname } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest, ManifestFile, ManifestTable } from '../../core/model/manifest.ts'
import { toScratchError } from '../../core/platform/scratch-folder.ts'
import type { Table, TableName } from '../../core/table/index.ts'
import { TABLES } from '../../core/table/index.ts'
import { FORMATS } from '../../formats/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { ScratchDatabase } from '../../read/scratch-database.ts'
import type { CheckedExport } from './checked-export.ts'
import { checkFile, differenceMessage } from './files.ts'
import { createCheckTable, loadFile, type TableFile } from './load-file.ts'

export type TableLoadContext = {
  /** The output folder. */
  readonly folder: string
  readonly database: ScratchDatabase
  readonly manifest: Manifest
  readonly findings: Findings
  readonly onProgress: (message: string) => void
}

/** Hashes every listed file again and reads every row into scratch tables. */
export async function loadTables(context: TableLoadContext): Promise<CheckedExport> {
  const completeTables = new Set<TableName>()
  // A plain scan gains nothing from the optimizer, which takes a third of the time of loading a small file.
  await context.database.run('PRAGMA disable_optimizer')
  for (const table of TABLES) {
    const listed = context.manifest.tables[table.name]
    if (listed === undefined) continue
    checkListed(table, listed, context.findings)
    await createCheckTable(context.database, table)
    if (await loadFiles(context, table, listed.files)) completeTables.add(table.name)
  }
  await context.database.run('PRAGMA enable_optimizer')
  return {
    database: context.database,
    manifest: context.manifest,
    findings: context.findings,
    completeTables,
  }
}

/** Checks that the manifest's entry of a table is consistent. */
function checkListed({ name }: Table, listed: ManifestTable, findings: Findings): void {
  const location = `manifest.json: tables.${name}`
  const rows = listed.files.reduce((sum, file) => sum + file.rows, 0)
  findings.expect(rows === listed.rows, () =>
    differenceMessage(location, 'rows', { expected: `${listed.rows} in the files`, found: rows }),
  )
  findings.expect(listed.files.length > 0, () => `${location}: files: expected at least one, found none`)
  checkSequence(location, listed.files, findings)
}

/**
 * Checks the order of a table's files. Files of one block range and partition have unique, ascending numbers; block
 * ranges of later runs follow those of earlier runs.
 */
function checkSequence(location: string, files: readonly ManifestFile[], findings: Findings): void {
  for (const [at, { path, fromBlock, toBlock }] of files.entries()) {
    findings.expect(
      fromBlock <= toBlock,
      () => `${path}: expected fromBlock at most toBlock ${toBlock}, found ${fromBlock}`,
    )
    const previousFile = files[at - 1]
    if (previousFile === undefined) continue
    const isOtherPartition = dirname(path) !== dirname(previousFile.path)
    const isInOrder =
      previousFile.fromBlock < fromBlock ||
      (previousFile.fromBlock === fromBlock &&
        (isOtherPartition || numberOf(previousFile.path) < numberOf(path)))
    findings.expect(isInOrder, () => {
      return `${location}: files: expected them sorted, found ${path} after ${previousFile.path}`
    })
  }
}

function numberOf(path: string): number {
  return Number(/-(\d+)\.[a-z.]+$/.exec(path)?.[1])
}

async function loadFiles(
  context: TableLoadContext,
  table: Table,
  files: readonly ManifestFile[],
): Promise<boolean> {
  let isComplete = files.length > 0
  for (const [index, file] of files.entries()) {
    context.onProgress(`reading ${file.path}`)
    isComplete = (await loadOne(context, { table, index, file })) && isComplete
  }
  return isComplete
}

async function loadOne(context: TableLoadContext, tableFile: TableFile): Promise<boolean> {
  const { folder, database, manifest, findings } = context
  const { table, file } = tableFile
  if (!(await checkFile(folder, { table: table.name, manifest, file }, findings))) return false
  try {
    if (!(await hasColumns(context, table, file.path))) return false
    await loadFile(context, tableFile)
    return true
  } catch (thrown) {
    const scratchError = toScratchError(thrown, database.scratchFolder)
    if (scratchError !== undefined) throw scratchError
    // A full temporary folder is not a problem of the export.
    if (thrown instanceof ExportError && thrown.code === 'OUTPUT_FAILED') throw thrown
    const reason = String((thrown as Error).message)
      .replaceAll(`${database.folder}/`, '')
      .slice(0, 300)
    return findings.expect(false, () => `${file.path}: cannot be read: ${reason}`)
  }
}

async function hasColumns(context: TableLoadContext, table: Table, path: string): Promise<boolean> {
  const { database, manifest, findings } = context
  const file = { path: `${database.folder}/${path}`, columns: table.columns }
  const mismatch = await FORMATS[manifest.job.format].findColumnMismatch(file, database.all)
  return findings.expect(mismatch === undefined, () =>
    mismatch === undefined ? '' : differenceMessage(path, mismatch.field, mismatch),
  )
}
