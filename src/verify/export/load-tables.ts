import { dirname } from 'node:path'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest, ManifestFile, ManifestTable } from '../../core/model/manifest.ts'
import { toScratchError } from '../../core/platform/scratch-folder.ts'
import { quoteIdentifier, quoteLiteral } from '../../core/platform/sql.ts'
import {
  type Column,
  type DecimalColumn,
  decimalColumnsOf,
  TABLES,
  type Table,
  type TableName,
} from '../../core/table/index.ts'
import { textColumns } from '../../formats/column-sql.ts'
import { FORMATS, openDataFile, sourceSql } from '../../formats/index.ts'
import { readingProblem } from '../../read/engine-message.ts'
import { type Findings, formatValue } from '../../read/findings.ts'
import type { ScratchDatabase } from '../../read/scratch-database.ts'
import { describeCell, parsedSourceSql, SQL_TYPES, typedCellSql, validCellSql } from './cells.ts'
import { type CheckedExport, expectNone, rowLocation } from './checked-export.ts'
import { checkFile } from './files.ts'

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
  const firstRows = new Map<string, number>()
  // A plain scan gains nothing from the optimizer, which takes a third of the time of loading a small file.
  await context.database.run('PRAGMA disable_optimizer')
  // DuckDB has a CSV file in memory while it reads it: the largest table is read before the others take space.
  for (const table of TABLES.toReversed()) {
    const listed = context.manifest.tables[table.name]
    if (listed === undefined) continue
    checkListed(table, listed, context.findings)
    await createCheckTable(context.database, table)
    if (await loadFiles({ ...context, firstRows }, table, listed.files)) completeTables.add(table.name)
  }
  await context.database.run('PRAGMA enable_optimizer')
  return {
    database: context.database,
    manifest: context.manifest,
    findings: context.findings,
    completeTables,
    firstRows,
  }
}

/** Checks that the manifest's entry of a table is consistent. */
function checkListed({ name }: Table, listed: ManifestTable, findings: Findings): void {
  const location = `manifest.json: tables.${name}`
  const rows = listed.files.reduce((sum, file) => sum + file.rows, 0)
  findings.expectValue(location, 'rows', {
    expected: `${listed.rows} in the files`,
    found: rows,
    holds: rows === listed.rows,
  })
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
  context: FileLoadContext,
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

async function loadOne(context: FileLoadContext, tableFile: TableFile): Promise<boolean> {
  const { folder, database, manifest, findings } = context
  const { table, file } = tableFile
  if (!(await checkFile(folder, { table: table.name, manifest, file }, findings))) return false
  try {
    if (!(await hasColumns(context, table, file.path))) return false
    await loadFile(context, tableFile)
    return true
  } catch (error) {
    const scratchError = toScratchError(error, database.scratchFolder)
    if (scratchError !== undefined) throw scratchError
    // A full temporary folder is not a problem of the export.
    if (error instanceof ExportError && error.code === 'OUTPUT_FAILED') throw error
    const message = String((error as Error).message).replaceAll(`${database.folder}/`, '')
    const { at, reason } = readingProblem(message)
    return findings.expect(false, () => `${file.path}${at}: cannot be read: ${reason}`)
  }
}

async function hasColumns(context: TableLoadContext, table: Table, path: string): Promise<boolean> {
  const { database, manifest, findings } = context
  const decimals = decimalColumnsOf(table, manifest.job.numbers)
  const file = { path: `${database.folder}/${path}`, columns: table.columns, decimals }
  const mismatch = await FORMATS[manifest.job.format].findColumnMismatch(file, database.all)
  if (mismatch === undefined) findings.pass()
  else findings.expectValue(path, mismatch.field, { ...mismatch, holds: false })
  if (mismatch === undefined) await checkDecimals(context, file)
  return mismatch === undefined
}

/** Compares the columns of decimals with the digits of the texts that they repeat. */
async function checkDecimals(
  { database, findings }: TableLoadContext,
  { path, decimals }: { path: string; decimals: readonly DecimalColumn[] },
): Promise<void> {
  for (const { name, of, precision, scale } of decimals) {
    const digits = `ltrim("${of}", '-')`
    const whole = `length(ltrim(split_part(${digits}, '.', 1), '0'))`
    const fits = `${whole} <= ${precision - scale} AND length(split_part(${digits}, '.', 2)) <= ${scale}`
    const written = `CASE WHEN ${scale} = 0 THEN "${name}"::VARCHAR ELSE rtrim(rtrim("${name}"::VARCHAR, '0'), '.') END`
    const [row] = await database.all(
      `SELECT count(*) AS wrong FROM read_parquet(${quoteLiteral(path)})
       WHERE ${written} IS DISTINCT FROM CASE WHEN ${fits} THEN "${of}" END`,
    )
    findings.expect(
      Number(row?.wrong) === 0,
      () => `${path}: ${row?.wrong} cells of ${name} differ from ${of}`,
    )
  }
}

type TableFile = { readonly table: Table; readonly index: number; readonly file: ManifestFile }
type FileLoadContext = TableLoadContext & {
  /** See `CheckedExport`. */
  readonly firstRows: Map<string, number>
}

/**
 * Creates the scratch table for a table's rows, with typed columns for the cells that later checks need, as a view with the
 * number of each row, which would take time and memory as a column.
 */
async function createCheckTable(database: ScratchDatabase, table: Table): Promise<void> {
  const cells = checkedColumns(table).map(
    (column) => `${quoteIdentifier(column.name)} ${SQL_TYPES[column.type]}`,
  )
  const columns = ['f INTEGER', 'is_valid BOOLEAN', 'block_key UBIGINT', ...cells]
  await database.run(`CREATE TABLE ${rowsOf(table)} (${columns.join(', ')})`)
  await database.run(`CREATE VIEW ${table.name} AS SELECT rowid AS r, * FROM ${rowsOf(table)}`)
}

const rowsOf = (table: Table) => `${table.name}_rows`

/**
 * Reads every row of one file into the scratch table and checks each cell, the row count and the block range.
 *
 * @throws DuckDB's error if the file cannot be read in its format
 */
async function loadFile(context: FileLoadContext, tableFile: TableFile): Promise<void> {
  const { database, manifest } = context
  const file = await openDataFile(
    `${database.folder}/${tableFile.file.path}`,
    manifest.job.format,
    database.scratchFolder,
  )
  try {
    await loadRows(context, tableFile, sourceSql(file, textColumns(tableFile.table.columns)))
  } finally {
    await file.close()
  }
}

async function loadRows(context: FileLoadContext, tableFile: TableFile, source: string): Promise<void> {
  const { database, manifest, findings, firstRows } = context
  const { table, index, file } = tableFile
  const isEmpty = file.rows === 0 && (await database.all(`SELECT 1 FROM ${source} LIMIT 1`)).length === 0
  if (!isEmpty) await database.run(insertSql(tableFile, source, manifest))
  const [loaded] = await database.all(
    `SELECT count(*) AS n, count_if(NOT is_valid) AS invalid, min(r) AS first FROM ${table.name} WHERE f = ${index}`,
  )
  firstRows.set(file.path, Number(loaded?.first))
  const count = Number(loaded?.n)
  findings.expect(count === file.rows, () => `${file.path}: rows: expected ${file.rows}, found ${count}`)
  if (Number(loaded?.invalid) > 0) await reportInvalidCells(context, tableFile, source)
  else for (let at = 0; at <= table.columns.length; at += 1) findings.pass()
}

function insertSql({ table, index, file }: TableFile, source: string, { job }: Manifest): string {
  const block = typedCellSql(table.columns[1] as Column, job)
  const isInRange = `coalesce(${block} >= ${file.fromBlock} AND ${block} < ${file.toBlock}, true)`
  const isValid = [...table.columns.map((column) => validCellSql(column, job.format)), isInRange].join(
    ' AND ',
  )
  const cells = checkedColumns(table).map((column) => typedCellSql(column, job))
  const values = [index, isValid, 'hash(block_hash, block_timestamp)', ...cells].join(', ')
  return `INSERT INTO ${rowsOf(table)} SELECT ${values} FROM ${parsedSourceSql(source, table.columns, job.format)}`
}

/** Reports invalid cells by row and column, and blocks outside the file's range. Reads the file once per column. */
async function reportInvalidCells(
  context: FileLoadContext,
  { table, index, file }: TableFile,
  source: string,
): Promise<void> {
  const { format } = context.manifest.job
  for (const column of table.columns) {
    const cell = quoteIdentifier(column.name)
    await expectNone(
      context,
      `SELECT r, ${cell} AS value FROM (SELECT row_number() OVER () AS r, * FROM ${parsedSourceSql(source, [column], format)})
            WHERE NOT (${validCellSql(column, format)}) ORDER BY r`,
      ({ r, value }) => {
        return `${file.path} row ${r}: ${column.name}: expected ${describeCell(column)}, found ${formatValue(value)}`
      },
    )
  }
  await expectNone(
    context,
    `SELECT f, r, block_number FROM ${table.name}
          WHERE f = ${index} AND (block_number < ${file.fromBlock} OR block_number >= ${file.toBlock}) ORDER BY r`,
    (row) =>
      `${rowLocation(context, table.name, row)}: block_number: expected ${file.fromBlock} to ${file.toBlock - 1}, found ${row.block_number}`,
  )
}

/** The columns that later checks use. Cells that are checked by type only (names, texts, metadata) are not loaded. */
function checkedColumns(table: Table): readonly Column[] {
  return table.columns.filter((column) => CHECKED_COLUMNS.has(column.name))
}

const CHECKED_COLUMNS: ReadonlySet<string> = new Set([
  'chain_id',
  'block_number',
  'block_timestamp',
  'transaction_hash',
  'transaction_index',
  'log_index',
  'transfer_ordinal',
  'transfer_id',
  'success',
  'status',
  'from_address',
  'to_address',
  'value',
  'gas_used',
  'gas_price',
  'transaction_fee',
  'extra_fee',
  'gas_limit',
  'call_type',
  'method_id',
  'method_name',
  'transaction_type',
  'effective_gas_price',
  'token_address',
  'token_id',
  'token_decimals',
  'metadata_decimals',
  'amount',
  'internal_id',
  'internal_type',
  'reverted',
  'wallet_address',
  'is_sender',
  'is_receiver',
  'erc20_transfers',
  'erc721_transfers',
  'erc1155_transfers',
  'internal_transactions',
  'entry_id',
  'entry_index',
  'entry_type',
  'direction',
  'counterparty_address',
  'counterparty_is_own',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'asset_decimals',
  'source',
  'wallet_label',
  'transfer_type',
  'asset_id',
])
