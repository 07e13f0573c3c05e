import type { DuckDBConnection } from '@duckdb/node-api'
import { type DataFile, openDataFile, wholeFile } from '../core/duckdb/data-file.ts'
import { csvSource, parquetSource, typedColumns, unescapedSql } from '../core/duckdb/source-sql.ts'
import { ExportError } from '../core/errors.ts'
import type { Manifest } from '../core/manifest.ts'
import { literal, named } from '../core/sql.ts'
import { type Column, TABLES, type Table } from '../core/table/index.ts'
import { type Answer, answerTo } from './answer.ts'
import { checkSize } from './check-size.ts'
import { requireManifest, unreadable } from './open-export.ts'
import { openRows, type Rows } from './rows.ts'
import { NOT_WHOLE, unitsSql } from './sql.ts'

/**
 * The answers of SQL statements over a finished export, one after the other. Each table is a view over exactly the files
 * that the manifest lists: whole numbers of 256 bits are BIGNUM, which sums exactly, times are UTC, text is as the chain has
 * it, and `units(value, decimals)` makes a plain decimal of a whole number. Statements change nothing, and reach no other
 * file and no network.
 *
 * Throws USAGE where the folder holds no export and for what is no SQL or does more than read, VERIFY_FAILED where the
 * manifest is damaged, or a file cannot be read or is not of the size that is listed.
 */
export async function* askExport(folder: string, sql: string): AsyncGenerator<Answer, void, void> {
  const { StatementType } = await import('@duckdb/node-api')
  const manifest = await requireManifest(folder)
  const rows = await openRows(folder)
  const opened: DataFile[] = []
  try {
    const refuse = (thrown: unknown) => refused(thrown, { folder, path: rows.folder })
    await makeViews({ manifest, rows, opened, asked: namesIn(rows.connection, sql) }).catch(refuse)
    const statements = await rows.connection.extractStatements(sql).catch(refuse)
    for (let at = 0; at < statements.count; at += 1) {
      const statement = await statements.prepare(at).catch(refuse)
      if (statement.statementType !== StatementType.SELECT) throw changing()
      yield answerTo(await statement.stream().catch(refuse), refuse)
    }
  } finally {
    for (const file of opened) await file.close()
    await rows.close()
  }
}

/** The tables that statements name, as far as can be told. */
function namesIn(connection: DuckDBConnection, sql: string): ReadonlySet<string> {
  try {
    return new Set(connection.getTableNames(sql, false))
  } catch {
    return new Set()
  }
}

/** What the engine refuses is the statement's fault, unless a file is; `path` is how it reaches the folder. */
function refused(thrown: unknown, { folder, path }: { folder: string; path: string }): never {
  if (thrown instanceof ExportError) throw thrown
  const { message } = thrown as Error
  const what = message
    .replace(/^Failed to extract statements: /, '')
    .replaceAll(`${path}/`, '')
    .trim()
  const notWhole = what.indexOf(NOT_WHOLE)
  if (notWhole >= 0) throw new ExportError('USAGE', what.slice(notWhole), { cause: thrown, fix: UNITS_FIX })
  const line = /^[\w ]+ Error: CSV Error on Line: (\d+)$/m.exec(what)?.[1]
  if (line !== undefined)
    throw unreadable(`${CSV_FILE.exec(what)?.[1] ?? folder}:${line}`, csvFault(what), thrown)
  if (/^(IO|Invalid Input|Invalid) Error: /.test(what)) throw unreadable(folder, what, thrown)
  throw new ExportError('USAGE', what, { cause: thrown, fix: FIX })
}

/** How the engine names the file of a row that is none, below much that is about options which nobody has. */
const CSV_FILE = /^ *file = (.+)$/m

/** What is wrong with the row: the line below the row itself. */
function csvFault(what: string): string {
  return /^Error when .*|^(Expected|Value|Found|Maximum) .*/m.exec(what)?.[0] ?? 'it is no row of the table'
}

const FIX =
  'Correct the statement (SQL of DuckDB). SHOW TABLES lists the tables, DESCRIBE ledger its columns.'

const UNITS_FIX = 'Round and cast the value first, as in units(round(avg(value))::BIGNUM, 18).'

function changing(): ExportError {
  return new ExportError('USAGE', 'a query only reads, and this statement does something else', {
    fix: 'Ask with SELECT, WITH, DESCRIBE, SUMMARIZE or SHOW TABLES; send the answer to a file with --format csv > FILE.',
  })
}

type Viewing = { manifest: Manifest; rows: Rows; opened: DataFile[]; asked: ReadonlySet<string> }

/** Makes the views, and lets the engine read their files and nothing else from here on. */
async function makeViews({ manifest, rows, opened, asked }: Viewing): Promise<void> {
  const { format } = manifest.job
  for (const table of TABLES) {
    const listed = manifest.tables[table.name]
    if (listed === undefined) continue
    // Only files that are asked for are worth a look at the length of their rows.
    const open = asked.has(table.name) ? openDataFile : wholeFile
    const files: DataFile[] = []
    for (const { path: name, bytes } of listed.files) {
      const path = `${rows.folder}/${name}`
      await checkSize({ name, path, bytes })
      files.push(await open(path, format, rows.scratch))
    }
    opened.push(...files)
    await rows.run(`CREATE VIEW ${named(table.name)} AS ${viewSql(table, files, manifest)}`)
  }
  const paths = opened.flatMap((file) => file.paths.map(literal))
  for (const setting of [
    `CREATE MACRO units(value, decimals) AS ${unitsSql('value', 'decimals')}`,
    "SET TimeZone = 'UTC'",
    `SET allowed_paths = [${paths.join(', ')}]`,
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ])
    await rows.run(setting)
}

function viewSql(table: Table, files: readonly DataFile[], { job }: Manifest): string {
  const unescapes = job.format === 'csv' && (job.escapeFormulas ?? true)
  const cells = table.columns.map((column) => `${cellSql(column, unescapes)} AS ${named(column.name)}`)
  const sources = files.length === 0 ? [emptySource(table)] : sourcesOf(files, table)
  return sources.map((source) => `SELECT ${cells.join(', ')} FROM ${source}`).join(' UNION ALL ')
}

function cellSql({ name, type, isOurs }: Column, unescapes: boolean): string {
  const cell = named(name)
  if (type === 'u256' || type === 'i256') return `${cell}::BIGNUM`
  return type === 'text' && !isOurs && unescapes ? unescapedSql(cell) : cell
}

function emptySource({ columns }: Table): string {
  const cells = typedColumns(columns).map(({ name, type }) => `NULL::${type} AS ${named(name)}`)
  return `(SELECT ${cells.join(', ')} WHERE false)`
}

/** CSV that is packed and CSV that is not are two sources. */
function sourcesOf(files: readonly DataFile[], { columns }: Table): string[] {
  const pathsOf = (some: readonly DataFile[]) => some.flatMap(({ paths }) => paths)
  if (files[0]?.format === 'parquet') return [parquetSource(pathsOf(files))]
  const longest = Math.max(...files.map((file) => file.longest))
  return [false, true].flatMap((isPacked) => {
    const paths = pathsOf(files.filter((file) => file.isPacked === isPacked))
    return paths.length === 0 ? [] : [csvSource({ paths, isPacked, longest }, typedColumns(columns))]
  })
}
