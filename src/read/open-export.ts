import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError, PERMISSION_FIX } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, type ManifestFile } from '../core/model/manifest.ts'
import { manifestContradictions } from '../core/model/manifest-contradictions.ts'
import type { FormatName } from '../core/model/model.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import { toScratchError } from '../core/platform/scratch-folder.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { type Column, type TableName, type TextRows, tableByName } from '../core/table/index.ts'
import { columnDifferences, UPGRADE_FIX } from '../core/table/schema-changes.ts'
import { textCellSql, textColumns, unescapedSql } from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { FORMATS, hasEscapedText, openDataFile, sourceSql } from '../formats/index.ts'
import { checkContent } from './check-files.ts'
import { type CsvColumns, readExportCsvRows } from './export-csv-rows.ts'
import { formatValue, openFindings } from './findings.ts'
import { readLargestDecimals, readsDecimals, scalerOf } from './largest-decimals.ts'
import { readManifest } from './read-manifest.ts'
import { exportReplacedError, watchExport } from './replaced-export.ts'
import { openScratchDatabase, type ScratchDatabase, type TextRow } from './scratch-database.ts'

/** Tables that are read row by row. With all of them the types of `stream` would be too complex for the compiler. */
type StreamedTable = 'ledger' | 'transactions'

export type OpenExport = {
  manifest: Manifest
  /** DuckDB on the files of the export, with scratch tables on disk and bounded memory. */
  database: ScratchDatabase
  /**
   * Runs a statement for each file of a table, in file order, with the SQL source of its rows. CSV cells are
   * text. Does nothing for a table that the export does not have. Throws VERIFY_FAILED if a file does not
   * match the manifest, or OUTPUT_LOCKED if another run has replaced the export since it was opened.
   */
  eachFile(table: TableName, statement: (source: string) => string): Promise<void>
  /** SQL for the original text of an untrusted cell: removes the `'` that CSV files put before formulas. */
  textSql(cell: string): string
  /**
   * Reads columns of a table in batches, in file order, which is chain order. Cells have their CSV notation;
   * untrusted text is unescaped. If rows of a token have different decimals, readers of `value` and `asset_decimals` get both in
   * the largest of them, so that values can be added and amounts stay those of the rows. The properties of a row are getters, so a spread (`{ ...row }`) does not copy them. Throws
   * like `eachFile`.
   */
  stream<T extends StreamedTable, N extends keyof TextRows[T] & string>(
    table: T,
    columns: readonly N[],
  ): AsyncGenerator<Pick<TextRows[T], N>[], void, void>
  close(): Promise<void>
}

/** The path of a file after checking its size and hash. Throws VERIFY_FAILED if they do not match. */
async function requireUnchanged(
  { path: name, bytes, sha256 }: ManifestFile,
  folder: string,
): Promise<string> {
  const path = `${folder}/${name}`
  await checkContent({ name, path, bytes, sha256 })
  return path
}

/**
 * Opens a finished export for reading. Throws USAGE if the folder contains none, VERIFY_FAILED if its
 * manifest is damaged, and OUTPUT_CHANGED if its columns differ from this version's.
 */
export async function openExport(folder: string): Promise<OpenExport> {
  await assertNoSpecialEntries(folder, 'VERIFY_FAILED')
  const watch = await watchExport(folder)
  const manifest = await requireManifest(folder)
  const database = await openScratchDatabase(folder)
  const filesOf = (table: TableName) => manifest.tables[table]?.files ?? []
  const checkedPathOf = (file: ManifestFile) => requireUnchanged(file, database.folder)
  const errorFor = async ({ path }: ManifestFile, thrown: unknown) => {
    if (await watch.isReplaced()) return exportReplacedError(folder)
    const knownError = thrown instanceof ExportError ? thrown : toScratchError(thrown, database.scratchFolder)
    if (knownError !== undefined) return knownError
    const reason = (thrown as Error).message.replaceAll(`${database.folder}/`, '').slice(0, 300)
    return unreadableFileError(path, reason, thrown)
  }
  const { format } = manifest.job
  const isEscaped = hasEscapedText(manifest.job)
  let largest: Promise<ReadonlyMap<string, number>> | undefined
  const opened: OpenExport = {
    manifest,
    database,
    textSql: (cell) => (isEscaped ? unescapedSql(cell) : cell),
    eachFile: async (table, statement) => {
      for (const listed of filesOf(table)) {
        let file: DataFile | undefined
        try {
          file = await openDataFile(await checkedPathOf(listed), format, database.scratchFolder)
          if (file.maxRowBytes <= SHORT_ROW_BYTES) await database.limitMemory(STATEMENT_MEMORY_BYTES)
          await database.run(statement(sourceSql(file, textColumns(tableByName(table).columns))))
        } catch (thrown) {
          throw await errorFor(listed, thrown)
        } finally {
          await database.limitMemory()
          await file?.close()
        }
      }
    },
    stream: async function* (table, names) {
      const { columns } = tableByName(table)
      const toRow = rowFactory<Pick<TextRows[typeof table], (typeof names)[number]>>(names)
      const read = ROW_READERS[format] ?? duckDbReader(format, database)
      let scale = (cells: TextRow) => cells
      if (table === 'ledger' && (manifest.decimalsConflict ?? 0) > 0 && readsDecimals(names)) {
        largest ??= readLargestDecimals(opened)
        scale = scalerOf(await largest, names)
      }
      for (const listed of filesOf(table)) {
        try {
          const batches = read(await checkedPathOf(listed), { columns, names, isEscaped })
          for await (const batch of batches) yield batch.map((cells) => toRow(scale(cells)))
        } catch (thrown) {
          throw await errorFor(listed, thrown)
        }
      }
    },
    close: () => database.close(),
  }
  return opened
}

/**
 * The only access to cells by position: returns a function that makes the row of these columns. Getters on a prototype read
 * the cells; copying them into an object for each row took a tenth of the time of a conversion.
 */
function rowFactory<Row>(names: readonly (keyof Row)[]): (cells: TextRow) => Row {
  class NamedCells {
    readonly cells: TextRow
    constructor(cells: TextRow) {
      this.cells = cells
    }
  }
  for (const [at, name] of names.entries())
    Object.defineProperty(NamedCells.prototype, name, {
      get(this: NamedCells) {
        return this.cells[at] ?? null
      },
    })
  return (cells) => new NamedCells(cells) as Row
}

/** Row length up to which statements run with `STATEMENT_MEMORY_BYTES`. */
const SHORT_ROW_BYTES = 1024 * 1024
/** Memory limit of such statements; larger aggregations spill to disk. */
const STATEMENT_MEMORY_BYTES = 96_000_000

type RowReader = (path: string, wanted: CsvColumns) => AsyncGenerator<TextRow[], void, void>

/** Readers that are faster than DuckDB, which reads the other formats. */
const ROW_READERS: Partial<Record<FormatName, RowReader>> = { csv: readExportCsvRows }

function duckDbReader(format: FormatName, database: ScratchDatabase): RowReader {
  return async function* (path, { columns, names, isEscaped }) {
    const cells = names.map((name) => {
      const column = columnOf(columns, name)
      const text = textCellSql(column, FORMATS[format].isTyped)
      return isEscaped && column.type === 'text' && !column.isGenerated ? unescapedSql(text) : text
    })
    const file = await openDataFile(path, format, database.scratchFolder)
    try {
      yield* database.stream(cells, `FROM ${sourceSql(file, textColumns(columns))}`)
    } finally {
      await file.close()
    }
  }
}

function columnOf(columns: readonly Column[], name: string): Column {
  const column = columns.find((one) => one.name === name)
  if (column === undefined) throw new ExportError('BUG', `there is no column ${name}`)
  return column
}

/**
 * Reads the manifest of a finished export. Throws USAGE if there is none, VERIFY_FAILED if it is damaged, and
 * OUTPUT_CHANGED if its columns differ from this version's.
 */
export async function requireManifest(folder: string): Promise<Manifest> {
  const entry = await stat(folder).catch(() => undefined)
  const fix = 'Run the job until it is complete, or name the output folder of a complete export.'
  if (!entry?.isDirectory()) throw new ExportError('USAGE', `there is no output folder ${folder}`, { fix })
  const manifest = await readManifestIfAny(folder)
  if (manifest !== undefined) return requireSameColumns(manifest, folder)
  throw new ExportError('USAGE', `${folder} holds no finished export (no ${MANIFEST_FILE})`, { fix })
}

function requireSameColumns(manifest: Manifest, folder: string): Manifest {
  const [difference] = columnDifferences(manifest)
  if (difference === undefined) return manifest
  throw new ExportError(
    'OUTPUT_CHANGED',
    `${folder} was written by another version of walletlake (${manifest.generator}): ${difference}`,
    { fix: UPGRADE_FIX },
  )
}

/** Reads a manifest with any columns; undefined if there is none. Throws VERIFY_FAILED if it is damaged. */
export async function readManifestIfAny(folder: string): Promise<Manifest | undefined> {
  await assertNoSpecialEntries(folder, 'VERIFY_FAILED')
  if ((await readTextIfExists(join(folder, MANIFEST_FILE))) === undefined) return undefined
  const findings = openFindings()
  const manifest = await readManifest(folder, findings)
  for (const { path, expected, found } of manifest === undefined ? [] : manifestContradictions(manifest))
    findings.addProblem(`manifest.json: ${path}: expected ${expected}, found ${formatValue(found)}`)
  if (manifest !== undefined && findings.count === 0) return manifest
  const [first = '', ...more] = findings.list()
  throw new ExportError('VERIFY_FAILED', [`${folder}: ${first}`, ...more])
}

/**
 * Throws USAGE if the export has no ledger.
 *
 * @param use Completes the message: `<output> has no ledger, which <use>`.
 */
export function requireLedger({ tables }: Manifest, output: string, use: string): void {
  if (tables.ledger !== undefined) return
  throw new ExportError('USAGE', `${output} has no ledger, which ${use}`, {
    fix: 'Add ledger to the tables of the job (or remove tables to export all), then run it again.',
  })
}

/** Error for a ledger row of a wallet that the manifest does not list: a balance would leave it out silently. */
export function uncoveredWalletError(wallet: string): ExportError {
  return new ExportError(
    'VERIFY_FAILED',
    `the ledger has rows of ${wallet}, which is not in the coverage of manifest.json`,
  )
}

/**
 * Error for an unreadable file: OUTPUT_FAILED if permission is denied, because that is no damage; otherwise
 * VERIFY_FAILED.
 */
export function unreadableFileError(path: string, reason: string, cause?: unknown): ExportError {
  const message = `${path}: cannot be read: ${reason}`
  if (/permission denied|EACCES|EPERM/i.test(reason))
    return new ExportError('OUTPUT_FAILED', message, { fix: PERMISSION_FIX, cause })
  return new ExportError('VERIFY_FAILED', message, { cause })
}
