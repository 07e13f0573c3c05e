import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExportError, PERMISSION_FIX } from '../core/model/errors.ts'
import { MANIFEST_FILE, type Manifest, type ManifestFile } from '../core/model/manifest.ts'
import { manifestContradictions } from '../core/model/manifest-contradictions.ts'
import type { FormatName } from '../core/model/model.ts'
import { readTextIfExists } from '../core/platform/disk.ts'
import { isFolder } from '../core/platform/entry.ts'
import { toScratchError } from '../core/platform/scratch-folder.ts'
import { assertNoSpecialEntries } from '../core/platform/special-entries.ts'
import { quoteIdentifier } from '../core/platform/sql.ts'
import { type Column, type TableName, type TextRows, tableByName } from '../core/table/index.ts'
import { columnDifferences, UPGRADE_FIX } from '../core/table/schema-changes.ts'
import {
  DUCKDB_TYPES,
  type SqlColumn,
  textCellSql,
  textColumns,
  typedColumns,
  unescapedSql,
} from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { FORMATS, hasEscapedText, openDataFile, sourceSql } from '../formats/index.ts'
import { checkContent } from './check-files.ts'
import { readingProblem } from './engine-message.ts'
import { type CsvColumns, readExportCsvRows } from './export-csv-rows.ts'
import { formatValue, openFindings } from './findings.ts'
import { RESTATE_LEDGER, readLargestDecimals, readsDecimals, scalerOf } from './largest-decimals.ts'
import { readManifest } from './read-manifest.ts'
import { type ExportWatch, exportReplacedError, watchExport } from './replaced-export.ts'
import {
  openScratchDatabase,
  type ResultRow,
  type ScratchDatabase,
  type TextRow,
} from './scratch-database.ts'

/** Tables that are read row by row. With all of them the types of `stream` would be too complex for the compiler. */
type StreamedTable = 'ledger' | 'transactions'

/** A finished export that is open for reading: its checked manifest, its rows as a stream, and SQL over one database. */
export type Dataset = {
  /** The output folder. */
  folder: string
  manifest: Manifest
  /**
   * Reads columns of a table in batches, in file order, which is chain order. Cells have their CSV notation;
   * untrusted text is unescaped. If rows of a token have different decimals, readers of `value` and `asset_decimals` get both in
   * the largest of them, so that values can be added and amounts stay those of the rows. The properties of a row are getters, so a spread (`{ ...row }`) does not copy them. Throws
   * VERIFY_FAILED if a file does not match the manifest, or OUTPUT_LOCKED if another run has replaced the export since it was opened.
   */
  stream<T extends StreamedTable, N extends keyof TextRows[T] & string>(
    table: T,
    columns: readonly N[],
  ): AsyncGenerator<Pick<TextRows[T], N>[], void, void>
  /**
   * Adds rows to what `stream` reads of the ledger: each after the rows up to its time and in the block of the row before, or
   * after all rows if it does not read `block_timestamp`. `load` and `eachFile` do not have them.
   */
  addLedgerRows(rows: readonly TextRows['ledger'][]): void
  /**
   * Loads columns of a table into a scratch table of its name, unless they are loaded already, so that any number of queries
   * read the files once. 256-bit integers are BIGNUM, decimals are text, times are TIMESTAMPTZ, and untrusted text is
   * unescaped; `rowid` is the position of a row in the table. Values of tokens with different decimals are restated as by `stream`.
   * Throws like `stream`.
   */
  load<T extends TableName>(table: T, columns: readonly (keyof TextRows[T] & string)[]): Promise<void>
  /**
   * Runs a statement for each file of a table, in file order, with the SQL source of its rows. CSV cells are
   * text. Does nothing for a table that the export does not have. Throws like `stream`.
   */
  eachFile(table: TableName, statement: (source: string) => string): Promise<void>
  /**
   * Fills a scratch table with what a query selects from each file of a table, as `eachFile` does. `into` declares the scratch
   * table, which is replaced: `ids (address VARCHAR, id VARCHAR)`.
   */
  collect(into: string, table: TableName, select: (source: string) => string): Promise<void>
  /** SQL for the original text of an untrusted cell: removes the `'` that CSV files put before formulas. */
  textSql(cell: string): string
  /** Runs a statement in the scratch database, which is opened with the first one: on disk and with bounded memory. */
  run(sql: string): Promise<void>
  /** All rows of a query in the scratch database, as objects; only for small results. */
  all(sql: string): Promise<ResultRow[]>
  close(): Promise<void>
}

/**
 * Opens a finished export for reading. Throws USAGE if the folder contains none, VERIFY_FAILED if its
 * manifest is damaged, and OUTPUT_CHANGED if its columns differ from this version's.
 */
export async function openDataset(folder: string): Promise<Dataset> {
  await assertNoSpecialEntries(folder, 'VERIFY_FAILED')
  const files = openFiles(folder, await watchExport(folder), await requireManifest(folder))
  const { manifest, isEscaped, database, eachSource } = files
  const added: AddedRow[] = []
  const source: Omit<Dataset, 'stream' | 'load'> = {
    folder,
    manifest,
    addLedgerRows: (rows) => {
      for (const row of rows) added.push(row)
      added.sort((a, b) => Number(timeOf(a) > timeOf(b)) - Number(timeOf(a) < timeOf(b)))
    },
    textSql: (cell) => (isEscaped ? unescapedSql(cell) : cell),
    eachFile: (table, statement) => eachSource(table, textColumns(tableByName(table).columns), statement),
    collect: async (into, table, select) => {
      await source.run(`CREATE OR REPLACE TABLE ${into}`)
      await source.eachFile(table, (file) => `INSERT INTO ${into.split(' ', 1)} ${select(file)}`)
    },
    run: async (sql) => (await database()).run(sql),
    all: async (sql) => (await database()).all(sql),
    close: files.close,
  }
  const largest = largestDecimalsOf(source)
  return { ...source, load: createLoad(files, source, largest), stream: createStream(files, largest, added) }
}

type DatasetFiles = ReturnType<typeof openFiles>

/** Access to the files of an export, each of which is checked before it is read. */
function openFiles(folder: string, watch: ExportWatch, manifest: Manifest) {
  const { format } = manifest.job
  let opened: Promise<ScratchDatabase> | undefined
  const database = () => {
    opened ??= openScratchDatabase(folder)
    return opened
  }
  const filesOf = (table: TableName) => manifest.tables[table]?.files ?? []
  const checkedPath = async ({ path: name, bytes, sha256 }: ManifestFile, root = folder) => {
    const path = `${root}/${name}`
    await checkContent({ name, path, bytes, sha256 })
    return path
  }
  const errorFor = async ({ path }: ManifestFile, error: unknown) => {
    if (await watch.isReplaced()) return exportReplacedError(folder)
    const scratch = await opened?.catch(() => undefined)
    const knownError =
      error instanceof ExportError ? error : toScratchError(error, scratch?.scratchFolder ?? tmpdir())
    if (knownError !== undefined) return knownError
    const message = (error as Error).message.replaceAll(`${scratch?.folder ?? folder}/`, '')
    const { at, reason } = readingProblem(message)
    return unreadableFileError(`${path}${at}`, reason, error)
  }
  const eachSource = async (
    table: TableName,
    columns: readonly SqlColumn[],
    statement: (source: string) => string,
  ) => {
    const { folder: root, scratchFolder, limitMemory, run } = await database()
    for (const listed of filesOf(table)) {
      let file: DataFile | undefined
      try {
        file = await openDataFile(await checkedPath(listed, root), format, scratchFolder)
        if (file.maxRowBytes <= SHORT_ROW_BYTES) await limitMemory(STATEMENT_MEMORY_BYTES)
        await run(statement(sourceSql(file, columns)))
      } catch (error) {
        throw await errorFor(listed, error)
      } finally {
        await limitMemory()
        await file?.close()
      }
    }
  }
  const isEscaped = hasEscapedText(manifest.job)
  const close = async () => (await opened)?.close()
  return { manifest, isEscaped, database, filesOf, checkedPath, errorFor, eachSource, close }
}

/** The largest decimals of tokens whose rows have several, if these columns of a table depend on them; read once. */
function largestDecimalsOf(dataset: Pick<Dataset, 'manifest' | 'collect' | 'all'>) {
  let largest: Promise<ReadonlyMap<string, number>> | undefined
  return (table: TableName, names: readonly string[]) => {
    if (table !== 'ledger' || !dataset.manifest.decimalsConflict || !readsDecimals(names)) return undefined
    largest ??= readLargestDecimals(dataset)
    return largest
  }
}

function createLoad(
  { isEscaped, eachSource }: DatasetFiles,
  { run }: Pick<Dataset, 'run'>,
  largestDecimals: ReturnType<typeof largestDecimalsOf>,
): Dataset['load'] {
  const loaded = new Map<TableName, ReadonlySet<string>>()
  return async (table, names) => {
    const { columns } = tableByName(table)
    const present = loaded.get(table) ?? new Set()
    if (names.every((name) => present.has(name))) return
    const wanted = new Set([...present, ...names])
    const chosen = columns.filter(({ name }) => wanted.has(name))
    const largest = await largestDecimals(table, [...wanted])
    await run(`CREATE OR REPLACE TABLE ${table} (${chosen.map(loadedColumn).join(', ')})`)
    const cells = chosen.map((column) => loadedCell(column, isEscaped)).join(', ')
    await eachSource(
      table,
      typedColumns(columns),
      (source) => `INSERT INTO ${table} SELECT ${cells} FROM ${source}`,
    )
    if (largest !== undefined) await run(RESTATE_LEDGER)
    loaded.set(table, wanted)
  }
}

type AddedRow = Readonly<Record<string, string | null>>

const timeOf = ({ block_timestamp: time }: AddedRow): string => time ?? ''

function createStream(
  { manifest, isEscaped, database, filesOf, checkedPath, errorFor }: DatasetFiles,
  largestDecimals: ReturnType<typeof largestDecimalsOf>,
  added: readonly AddedRow[],
): Dataset['stream'] {
  const { format } = manifest.job
  return async function* (table, names) {
    const { columns } = tableByName(table)
    const toRow = rowFactory<Pick<TextRows[typeof table], (typeof names)[number]>>(names)
    const read = ROW_READERS[format] ?? duckDbReader(format, await database())
    const largest = await largestDecimals(table, names)
    const scale = largest === undefined ? (cells: TextRow) => cells : scalerOf(largest, names)
    const insert = table === 'ledger' && added.length > 0 ? inserterOf(added, names) : undefined
    for (const listed of filesOf(table)) {
      try {
        const batches = read(await checkedPath(listed), { columns, names, isEscaped })
        for await (const batch of batches)
          if (insert === undefined) yield batch.map((cells) => toRow(scale(cells)))
          else yield insert(batch.map((cells) => scale(cells))).map(toRow)
      } catch (error) {
        throw await errorFor(listed, error)
      }
    }
    const last = insert?.() ?? []
    if (last.length > 0) yield last.map(toRow)
  }
}

/**
 * Returns a function that adds rows to a batch, each before the first row that is later. Without a batch, it returns those
 * that remain.
 */
function inserterOf(added: readonly AddedRow[], names: readonly string[]) {
  const timeAt = names.indexOf('block_timestamp')
  const waiting = [...added]
  let before: TextRow = []
  const place = (row: AddedRow) =>
    names.map((name, at) => (PLACES.has(name) ? (before[at] ?? '0') : (row[name] ?? null)))
  return (batch?: readonly TextRow[]): TextRow[] => {
    if (batch === undefined) return waiting.splice(0).map(place)
    const rows: TextRow[] = []
    for (const cells of batch) {
      const isLater = (row: AddedRow) => timeOf(row) >= (cells[timeAt] ?? '')
      const first = waiting.findIndex(isLater)
      for (const row of waiting.splice(0, first < 0 ? waiting.length : first)) rows.push(place(row))
      rows.push(cells)
      before = cells
    }
    return rows
  }
}

/** Columns of the position in the chain, which added rows take from the row before. */
const PLACES: ReadonlySet<string> = new Set(['block_number', 'transaction_index'])

const LOADED_TYPES = { ...DUCKDB_TYPES, u256: 'BIGNUM', i256: 'BIGNUM' } as const

const loadedColumn = ({ name, type }: Column) => `${quoteIdentifier(name)} ${LOADED_TYPES[type]}`

/** SQL for a cell of a loaded table; DuckDB converts the digits of large integers. */
function loadedCell({ name, type, isGenerated }: Column, isEscaped: boolean): string {
  const cell = quoteIdentifier(name)
  return isEscaped && type === 'text' && !isGenerated ? unescapedSql(cell) : cell
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
  const fix = 'Run the job until it is complete, or name the output folder of a complete export.'
  if (!(await isFolder(folder)))
    throw new ExportError('USAGE', `there is no output folder ${folder}`, { fix })
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
