import type { DuckDBConnection } from '@duckdb/node-api'
import { ExportError } from '../../errors.ts'
import type { Table } from '../../table/index.ts'
import { checkColumns } from '../check-columns.ts'
import { engineError, importDriver } from '../engine-error.ts'
import { LOADS_TABLE, recordCells, recordOf } from '../loads-table.ts'
import { unreadable } from '../reader.ts'
import { literal, scanSql } from '../scan-sql.ts'
import type { LocalFile, NamedTable, Statements, Target } from '../target.ts'

export type DuckdbOptions = {
  readonly file: string
  readonly sql: Statements
  readonly unescapeFormulas: boolean
}

/** Memory that the engine may take before it moves its work to the disk, and threads. */
const SETTINGS = { memory_limit: '512MB', threads: '2', autoinstall_known_extensions: 'false' }

/**
 * A DuckDB file. The engine reads the files by itself. There is no index: rows of known files are appended, and only
 * where the table holds rows of unknown or other origin are those of the same key deleted first.
 */
export async function openDuckdb({ file, sql, unescapeFormulas }: DuckdbOptions): Promise<Target> {
  const { DuckDBInstance } = await importDriver('@duckdb/node-api', () => import('@duckdb/node-api'))
  const instance = await DuckDBInstance.create(file, { ...SETTINGS, temp_directory: `${file}.tmp` }).catch(
    (cause: unknown) => {
      throw cannotOpen(file, cause)
    },
  )
  const connection = await instance.connect()
  const run = (statement: string) =>
    connection.run(statement).catch((cause: unknown) => {
      throw engineError(`duckdb:${file}`, cause)
    })
  const scan = (from: LocalFile) => scanSql(from, { unescapeFormulas })
  return {
    title: `duckdb:${file}`,
    transactions: 'many',
    begin: async () => void (await run('BEGIN')),
    prepare: async (tables) => {
      for (const statement of sql.createSchema) await run(statement)
      for (const table of [...tables, LOADS_TABLE]) await prepareTable(connection, { table, sql, run })
    },
    records: async () => {
      const found = await connection.runAndReadAll(`SELECT * FROM ${sql.identifier(LOADS_TABLE.name)}`)
      return found.getRowObjectsJS().map(recordOf)
    },
    holdsOnly: async ({ name }, rows) => {
      const counted = await connection.runAndReadAll(`SELECT count(*) AS n FROM ${sql.identifier(name)}`)
      return Number(counted.getRowObjectsJS()[0]?.n) === rows
    },
    deleteBlocks: async ({ name }, { chainId, from, to }) => {
      const where = `chain_id = ${literal(chainId)} AND block_number >= ${from} AND block_number < ${to}`
      await run(`DELETE FROM ${sql.identifier(name)} WHERE ${where}`)
    },
    insert: async (from, { append }) => {
      const table = sql.identifier(from.table.name)
      const insert = append
        ? `INSERT INTO ${table} BY NAME ${scan(from)}`
        : await stage(from, { table, run, source: scan(from) })
      const { rowsChanged } = await connection.run(insert).catch((cause: unknown) => {
        throw unreadable(from, cause)
      })
      if (!append) await run('DROP TABLE walletlake_stage')
      return rowsChanged
    },
    remember: async (record) => {
      const cells = recordCells(record).map((cell) => (typeof cell === 'number' ? cell : literal(cell)))
      await run(`INSERT INTO ${sql.identifier(LOADS_TABLE.name)} VALUES (${cells.join(', ')})`)
    },
    forget: async (records) => {
      for (const { outputId, table, path, sha256 } of records) {
        const where = `output_id = ${literal(outputId)} AND table_name = ${literal(table)}`
        const file = `path = ${literal(path)} AND sha256 = ${literal(sha256)}`
        await run(`DELETE FROM ${sql.identifier(LOADS_TABLE.name)} WHERE ${where} AND ${file}`)
      }
    },
    commit: async () => void (await run('COMMIT')),
    rollback: async () => void (await connection.run('ROLLBACK').catch(() => undefined)),
    close: async () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

function cannotOpen(file: string, cause: unknown): ExportError {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (/lock/i.test(message)) {
    return new ExportError('OUTPUT_LOCKED', `another process has duckdb:${file} open`, {
      cause,
      fix: 'Close the other program (DuckDB lets one process write at a time), then run the same command again.',
    })
  }
  return engineError(`cannot open duckdb:${file}`, cause, {
    fix: 'Check the path after duckdb: and that its folder is there and may be written.',
  })
}

type Preparing = { table: NamedTable; sql: Statements; run: (statement: string) => Promise<unknown> }

async function prepareTable(connection: DuckDBConnection, { table, sql, run }: Preparing): Promise<void> {
  const found = await connection.runAndReadAll(
    `SELECT column_name, data_type, is_nullable FROM duckdb_columns()
     WHERE database_name = current_database() AND schema_name = ${literal(sql.schema ?? 'main')}
       AND table_name = ${literal(sql.prefix + table.name)} ORDER BY column_index`,
  )
  const columns = found.getRowObjectsJS().map((row) => ({
    name: String(row.column_name),
    declared: `${row.data_type}${row.is_nullable ? '' : ' NOT NULL'}`,
  }))
  if (columns.length > 0) checkColumns(table, columns, sql)
  else for (const statement of sql.create(table)) await run(statement)
}

/** Rows of the file in a table of this connection, those of the same key gone; the statement that moves them over. */
async function stage(
  { table: { key } }: { table: Table },
  { table, source, run }: { table: string; source: string; run: (statement: string) => Promise<unknown> },
): Promise<string> {
  await run(`CREATE TEMP TABLE walletlake_stage AS ${source}`)
  const same = key.map((name) => `t."${name}" = s."${name}"`).join(' AND ')
  await run(`DELETE FROM ${table} AS t USING walletlake_stage AS s WHERE ${same}`)
  return `INSERT INTO ${table} BY NAME SELECT * FROM walletlake_stage`
}
