import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { openOwnDatabase } from '../../core/duckdb/own-database.ts'
import { ExportError } from '../../core/model/errors.ts'
import { entryAt } from '../../core/platform/entry.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import { DIALECTS } from '../ddl/dialects.ts'
import { engineError, isDiskFull, NO_SPACE_FIX } from '../engine-error.ts'
import { type ReaderOptions, readError, scanSql } from '../reader.ts'
import type { Engine } from '../target.ts'

/** Opens a DuckDB file. DuckDB reads the export files directly. */
export async function openDuckdb(file: string, options: ReaderOptions): Promise<Engine> {
  await removeIncomplete(file)
  let isCommitted = existsSync(file)
  const { connection, close } = await connect(file, options).catch(async (cause) => {
    if (!isCommitted) await removeDatabase(file)
    throw cause
  })
  const query = async (statement: string) => {
    try {
      return (await connection.runAndReadAll(statement)).getRowObjectsJS()
    } catch (cause) {
      throw engineError(`duckdb:${file}`, cause)
    }
  }
  return {
    transactions: 'many',
    dialect: DIALECTS.duckdb,
    query,
    columnsSql: ({ schema = 'main', name }) =>
      `SELECT column_name AS name, data_type AS type, NOT is_nullable AS filled FROM duckdb_columns()
       WHERE database_name = current_database() AND schema_name = ${quoteLiteral(schema)}
         AND table_name = ${quoteLiteral(name)} ORDER BY column_index`,
    insert: async (local, into) => {
      const statement = `INSERT INTO ${into} BY NAME ${scanSql(local, options.unescapeFormulas)}`
      const { rowsChanged } = await connection.run(statement).catch((cause: unknown) => {
        throw readError(local, cause)
      })
      return rowsChanged
    },
    commit: async () => {
      await query('COMMIT')
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
  const entry = await entryAt(file)
  if (entry?.isFile() && entry.size > 0 && entry.size < HEADER_BYTES) await removeDatabase(file)
}

async function removeDatabase(file: string): Promise<void> {
  for (const path of [file, `${file}.wal`]) await rm(path, { force: true })
}

async function connect(file: string, { memory }: ReaderOptions) {
  const { connection, close } = await openOwnDatabase({ memory, spillFolder: `${file}.tmp` })
  try {
    await connection.run(`ATTACH ${quoteLiteral(file)} AS ${CATALOG}; USE ${CATALOG}`)
  } catch (cause) {
    await close()
    throw openError(file, cause)
  }
  const detach = async () => {
    await connection.run(`USE own; DETACH ${CATALOG}`).catch(() => undefined)
    await close()
  }
  return { connection, close: detach }
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
