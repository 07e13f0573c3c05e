import { existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { ExportError } from '../../core/model/errors.ts'
import { quoteIdentifier, quoteLiteral } from '../../core/platform/sql.ts'
import { statementsForMissingColumns } from '../check-columns.ts'
import type { NamedTable } from '../ddl/create-table.ts'
import { engineError, importDriver, isDiskFull, NO_SPACE_FIX } from '../engine-error.ts'
import { LOADS_TABLE, parseLoadRecord, recordCells } from '../loads-table.ts'
import { readChainIds } from '../read-chain-ids.ts'
import { readError } from '../read-error.ts'
import { scanSql } from '../scan-sql.ts'
import { STAGE, stagedMerge } from '../staged-merge.ts'
import type { LoadRecord, LoadTarget, Statements } from '../target.ts'

export type DuckdbOptions = {
  readonly file: string
  readonly sql: Statements
  readonly unescapeFormulas: boolean
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
}

/** Opens a DuckDB file. DuckDB reads the export files directly. */
export async function openDuckdb(options: DuckdbOptions): Promise<LoadTarget> {
  const { file, sql, unescapeFormulas } = options
  await removeIncomplete(file)
  let isCommitted = existsSync(file)
  const { connection, close } = await connect(options).catch(async (thrown) => {
    if (!isCommitted) await removeDatabase(file)
    throw thrown
  })
  const rethrow = (cause: unknown): never => {
    throw engineError(`duckdb:${file}`, cause)
  }
  const run = (statement: string) => connection.run(statement).catch(rethrow)
  const all = async (query: string) =>
    (await connection.runAndReadAll(query).catch(rethrow)).getRowObjectsJS()
  const queries = { sql, run, all }
  return {
    transactions: 'many',
    begin: async () => void (await run('BEGIN')),
    prepare: async (tables) => {
      for (const statement of sql.createSchema) await run(statement)
      for (const table of [...tables, LOADS_TABLE]) await prepareTable(table, queries)
    },
    ...loadRecords(queries),
    ...stagedMerge(sql, all),
    chainIds: (file) => readChainIds(connection, file),
    insert: async (file, into) => {
      const name = into === 'stage' ? STAGE : sql.identifier(file.table.name)
      const statement = `INSERT INTO ${name} BY NAME ${scanSql(file, { unescapeFormulas })}`
      const { rowsChanged } = await connection.run(statement).catch((cause: unknown) => {
        throw readError(file, cause)
      })
      return rowsChanged
    },
    commit: async () => {
      await run('COMMIT')
      isCommitted = true
    },
    rollback: async () => void (await connection.run('ROLLBACK').catch(() => undefined)),
    close: async () => {
      await close()
      // A new database without a committed load is removed.
      if (!isCommitted) await removeDatabase(file)
    },
  }
}

/** Size of the headers that every DuckDB database starts with, in bytes. */
const HEADER_BYTES = 3 * 4096

/**
 * Removes a database whose creation was interrupted by a kill or a full disk: it is smaller than its headers, so it
 * contains no data. Files of other kinds were rejected before.
 */
async function removeIncomplete(file: string): Promise<void> {
  const entry = await stat(file).catch(() => undefined)
  if (entry?.isFile() && entry.size > 0 && entry.size < HEADER_BYTES) await removeDatabase(file)
}

async function removeDatabase(file: string): Promise<void> {
  for (const path of [file, `${file}.wal`]) await rm(path, { force: true })
}

/** Implements the records of loaded files. */
function loadRecords({
  sql,
  run,
  all,
}: DuckdbQueries): Pick<LoadTarget, 'records' | 'saveRecord' | 'deleteRecords'> {
  const loads = sql.identifier(LOADS_TABLE.name)
  const deleteLoads = async (records: readonly LoadRecord[], { anyContent = false } = {}) => {
    for (const { outputId, table, path, sha256 } of records) {
      const where = `output_id = ${quoteLiteral(outputId)} AND table_name = ${quoteLiteral(table)} AND path = ${quoteLiteral(path)}`
      await run(
        `DELETE FROM ${loads} WHERE ${where}${anyContent ? '' : ` AND sha256 = ${quoteLiteral(sha256)}`}`,
      )
    }
  }
  return {
    records: async () => (await all(`SELECT * FROM ${loads}`)).map(parseLoadRecord),
    saveRecord: async (record) => {
      await deleteLoads([record], { anyContent: true })
      const cells = recordCells(record).map((cell) => (typeof cell === 'number' ? cell : quoteLiteral(cell)))
      await run(`INSERT INTO ${loads} VALUES (${cells.join(', ')})`)
    },
    deleteRecords: (records) => deleteLoads(records),
  }
}

async function connect({ file, memory }: DuckdbOptions) {
  const { DuckDBInstance } = await importDriver('@duckdb/node-api', () => import('@duckdb/node-api'))
  const settings = { threads: '1', memory_limit: memory, autoinstall_known_extensions: 'false' }
  const instance = await DuckDBInstance.create(':memory:', { ...settings, temp_directory: `${file}.tmp` })
  const connection = await instance.connect()
  const close = async () => {
    connection.closeSync()
    instance.closeSync()
  }
  try {
    await connection.run(`ATTACH ${quoteLiteral(file)} AS ${CATALOG}; USE ${CATALOG}`)
    return { connection, close }
  } catch (cause) {
    await close()
    throw openError(file, cause)
  }
}

/** Catalog name of the attached file. Its default, the file name, is ambiguous if a schema has the same name. */
const CATALOG = 'walletlake_target'

function openError(file: string, cause: unknown): ExportError {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (/lock/i.test(message)) {
    return new ExportError('OUTPUT_LOCKED', `another process has duckdb:${file} open`, {
      cause,
      fix: 'Close the other program (DuckDB lets one process write at a time), then run the same command again.',
    })
  }
  return engineError(`cannot open duckdb:${file}`, cause, {
    fix: isDiskFull(message)
      ? NO_SPACE_FIX
      : 'Check the path after duckdb:, and that its folder exists and is writable.',
  })
}

type DuckdbQueries = {
  sql: Statements
  run: (statement: string) => Promise<unknown>
  all: (query: string) => Promise<Record<string, unknown>[]>
}

async function prepareTable(table: NamedTable, { sql, run, all }: DuckdbQueries): Promise<void> {
  const existingColumns = (
    await all(
      `SELECT column_name, data_type, is_nullable FROM duckdb_columns()
     WHERE database_name = current_database() AND schema_name = ${quoteLiteral(sql.schema ?? 'main')}
       AND table_name = ${quoteLiteral(sql.prefix + table.name)} ORDER BY column_index`,
    )
  ).map((row) => ({
    name: String(row.column_name),
    type: String(row.data_type),
    isNullable: row.is_nullable === true,
  }))
  if (existingColumns.length === 0) return void (await run(sql.create(table).join(';\n')))
  const textColumns = existingColumns.filter(
    ({ name, type }) => type === 'VARCHAR' && isBigIntegerColumn(table, name),
  )
  const columns = existingColumns.map((column) => ({
    name: column.name,
    declared: `${textColumns.includes(column) ? 'BIGNUM' : column.type}${column.isNullable ? '' : ' NOT NULL'}`,
  }))
  for (const statement of statementsForMissingColumns(table, columns, sql)) await run(statement)
  for (const { name } of textColumns)
    await run(`ALTER TABLE ${sql.identifier(table.name)} ALTER COLUMN ${quoteIdentifier(name)} TYPE BIGNUM`)
}

/** Whether a column holds 256-bit integers. Databases of earlier versions store them as text. */
function isBigIntegerColumn({ columns }: NamedTable, column: string): boolean {
  return columns.some(({ name, type }) => name === column && (type === 'u256' || type === 'i256'))
}
