import { join } from 'node:path'
import { openOwnDatabase } from '../core/duckdb/own-database.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { Column, Table, TableName } from '../core/table/index.ts'
import { isoTimeSql, textColumns, typedColumns, unescapedSql } from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { FORMATS, sourceSql } from '../formats/index.ts'
import { mismatchError } from '../read/check-files.ts'
import { readingProblem } from '../read/engine-message.ts'
import type { TextRow } from '../read/scratch-database.ts'
import { engineError } from './engine-error.ts'

/** A file of an output on the local disk. */
export type LocalFile = {
  readonly table: Table
  /** Path in the manifest, for messages. */
  readonly name: string
  /** Local path. */
  readonly path: string
  readonly format: Manifest['job']['format']
  /** The file in a form that DuckDB can read. */
  readonly readable: DataFile
  /** Number of rows according to the manifest. */
  readonly rows: number
}

export type CellFormats = {
  /** Replace U+0000 in text by U+FFFD. */
  readonly replaceNul?: boolean
  /** Write times as text such as 2023-11-14T22:46:40.000Z. */
  readonly timeAsText?: boolean
  /** Write 1 and 0 for true and false. */
  readonly boolAsNumber?: boolean
}

/** Reads export files of any format, for the check of their keys and for targets that cannot read them directly. */
export type Reader = {
  /**
   * Adds the keys of a file to those of the files before it. Throws VERIFY_FAILED if one occurs twice: depending on the
   * engine, a load would keep only one of the rows, or both. Returns the distinct chain ids of the rows. An error of DuckDB
   * about the file is not converted.
   */
  checkKeys(file: LocalFile): Promise<readonly string[]>
  /**
   * Writes a file's rows as plain CSV: no header, null as an empty field, text always quoted. Resolves with the path of
   * the CSV file, which the caller removes.
   */
  toCsv(file: LocalFile, formats: CellFormats): Promise<{ path: string; rows: number }>
  /** Yields a file's rows in batches, with cells as text in the table's column order. */
  batches(file: LocalFile, formats: CellFormats): AsyncIterable<readonly TextRow[]>
  close(): Promise<void>
}

export type ReaderOptions = {
  /** Folder for data that does not fit into memory. */
  readonly scratchFolder: string
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
  /** Remove the `'` that the export wrote before text that a spreadsheet would evaluate. */
  readonly unescapeFormulas: boolean
}

/** Opens a reader with an in-memory DuckDB. */
export async function openReader({
  scratchFolder,
  memory,
  unescapeFormulas,
}: ReaderOptions): Promise<Reader> {
  const { connection, close } = await openOwnDatabase({ memory, spillFolder: join(scratchFolder, 'spill') })
  const run = (sql: string) => connection.run(sql)
  const all = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJS()
  const keyed = new Set<TableName>()
  return {
    checkKeys: async (file) => {
      const keys = `keys_of_${file.table.name}`
      if (!keyed.has(file.table.name)) await run(`CREATE TABLE ${keys} (a UBIGINT, b UBIGINT)`)
      keyed.add(file.table.name)
      await run(`CREATE OR REPLACE TABLE added AS SELECT a, b, chain_id FROM (${keyHashesSql(file)})`)
      const repeated = `SELECT a, b FROM added GROUP BY ALL HAVING count(*) > 1
        UNION ALL SELECT a, b FROM added SEMI JOIN ${keys} USING (a, b)`
      if ((await all(`${repeated} LIMIT 1`)).length > 0) {
        const rows = `(${keyHashesSql(file)}) AS rows SEMI JOIN (${repeated}) AS repeated USING (a, b)`
        const [row] = await all(`SELECT key FROM ${rows} LIMIT 1`)
        throw duplicateRowError(file.name, file.table, String(row?.[0]).split('|'))
      }
      await run(`INSERT INTO ${keys} SELECT a, b FROM added`)
      return (await all('SELECT DISTINCT chain_id FROM added ORDER BY 1')).map(([id]) => String(id))
    },
    toCsv: async (file, formats) => {
      const path = join(scratchFolder, 'rows.csv')
      const texts = file.table.columns.filter(({ type }) => type === 'text').map(({ name }) => `"${name}"`)
      const options = `FORMAT csv, HEADER false, NULLSTR '', FORCE_QUOTE (${texts.join(', ')})`
      const copy = `COPY (${scanSql(file, unescapeFormulas, formats)}) TO ${quoteLiteral(path)} (${options})`
      const { rowsChanged } = await run(copy).catch((cause: unknown) => {
        throw readError(file, cause)
      })
      return { path, rows: rowsChanged }
    },
    batches: async function* (file, formats) {
      const { cells, toRow } = textCells(file)
      const query = `SELECT ${cells} FROM (${scanSql(file, unescapeFormulas, formats)})`
      try {
        for await (const rows of (await connection.stream(query)).yieldRowsJs()) yield rows.map(toRow)
      } catch (cause) {
        throw readError(file, cause)
      }
    },
    close,
  }
}

/** SQL for the key of each of a file's rows, its hashes, and the chain id. Rows with a null in the key are left out. */
function keyHashesSql({ table, readable }: LocalFile): string {
  const key = table.key.map((name) => `CAST("${name}" AS VARCHAR)`).join(', ')
  const hasFullKey = table.key.map((name) => `"${name}" IS NOT NULL`).join(' AND ')
  const source = sourceSql(readable, textColumns(table.columns))
  const cells = `concat_ws('|', ${key}) AS key, hash(${key}) AS a, hash('second', ${key}) AS b, chain_id`
  return `SELECT ${cells} FROM ${source} WHERE ${hasFullKey}`
}

/** Does not say that nothing was loaded: remote files are checked one by one, and earlier ones may be committed. */
export function duplicateRowError(path: string, table: Table, key: readonly string[]): ExportError {
  const row = `${table.key.join(', ')} = ${key.join(', ')}`
  return new ExportError('VERIFY_FAILED', `${path}: the export contains a duplicate row: ${row}`, {
    fix: 'Export again with run --fresh, then load again; walletlake verify lists the duplicate rows.',
  })
}

/**
 * SQL for a row's cells as text, with the function that reads them. Fetching one JSON array per row is eight times as
 * fast as fetching cells. For a 30 MB row, however, DuckDB would allocate 256 MB for it, so files that were split
 * because of long rows are read cell by cell.
 */
function textCells({ table, readable, path }: LocalFile): {
  cells: string
  toRow: (row: readonly unknown[]) => TextRow
} {
  const cells = table.columns.map(({ name }) => `CAST("${name}" AS VARCHAR)`).join(', ')
  if (readable.paths[0] !== path) return { cells, toRow: (row) => row as TextRow }
  return { cells: `json_array(${cells})`, toRow: ([line]) => JSON.parse(String(line)) as TextRow }
}

/**
 * DuckDB SQL that reads a file's rows with typed columns in the table's order.
 *
 * @param formats conversions for values that the target cannot store in DuckDB's form
 */
export function scanSql(
  { table, format, readable }: LocalFile,
  unescapeFormulas: boolean,
  formats: CellFormats = {},
): string {
  const unescapes = unescapeFormulas && FORMATS[format].escapesFormulas
  const cellSql = ({ name, type, isGenerated = false }: Column) => {
    const cell = `"${name}"`
    if (type === 'time' && formats.timeAsText) return isoTimeSql(cell)
    if (type === 'bool' && formats.boolAsNumber) return `CAST(${cell} AS INTEGER)`
    if (type !== 'text') return cell
    const text = unescapes && !isGenerated ? unescapedSql(cell) : cell
    return formats.replaceNul ? `replace(${text}, chr(0), chr(65533))` : text
  }
  const cells = table.columns.map((column) => `${cellSql(column)} AS "${column.name}"`)
  return `SELECT ${cells.join(', ')} FROM ${sourceSql(readable, typedColumns(table.columns))}`
}

/**
 * Converts DuckDB's error for a file: VERIFY_FAILED if the content is invalid, otherwise LOAD_FAILED (such as lack of
 * memory or disk space).
 */
export function readError({ name, readable }: LocalFile, cause: unknown): ExportError {
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = readable.paths.reduce((text, path) => text.replaceAll(path, name), text)
  if (!CONTENT_ERROR.test(message)) return engineError(name, new Error(message))
  const { at, reason } = readingProblem(message)
  return mismatchError(`${name}${at}`, `it cannot be read: ${reason}`)
}

/** DuckDB error classes that are caused by a file's content. */
const CONTENT_ERROR =
  /^(?:Conversion|Invalid Input|Constraint|Binder|Out of Range|Parser|Serialization) Error/
