import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { type OwnDatabase, openOwnDatabase } from '../core/duckdb/own-database.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Table, TableName } from '../core/table/index.ts'
import { textColumns } from '../formats/column-sql.ts'
import type { DataFile } from '../formats/format.ts'
import { sourceSql } from '../formats/index.ts'

/** A local file of an export whose keys are to be checked. */
export type KeyedFile = { readonly table: Table; readonly name: string; readonly readable: DataFile }

/** Detects rows with duplicate keys. Depending on the engine, a load would keep only one of them or count both. */
export type KeyCheck = {
  /**
   * Adds the keys of a file that is to be loaded. Throws VERIFY_FAILED if one occurs twice in it or in an earlier file.
   */
  add(file: KeyedFile): Promise<void>
  close(): Promise<void>
}

/**
 * Creates a key check that stores each key as two 64-bit hashes. Data beyond `memory` is spilled to `scratchFolder`.
 *
 * @param memory a DuckDB memory limit such as 256MB
 */
export function createKeyCheck(scratchFolder: string, memory: string): KeyCheck {
  let engine: Promise<OwnDatabase> | undefined
  const loadedTables = new Set<TableName>()
  return {
    add: async (file) => {
      engine ??= openOwnDatabase({ memory, spillFolder: join(scratchFolder, 'keys') })
      const { connection } = await engine
      const keys = keysOf(file.table)
      if (loadedTables.has(file.table.name)) await assertNoDuplicates(connection, file, keys)
      else await connection.run(`CREATE TABLE ${keys} (a UBIGINT, b UBIGINT)`)
      loadedTables.add(file.table.name)
      const duplicates = `(SELECT a, b FROM (${keyHashesSql(file)}) GROUP BY a, b HAVING count(*) > 1)`
      await assertNoDuplicates(connection, file, duplicates)
      await connection.run(`INSERT INTO ${keys} SELECT a, b FROM (${keyHashesSql(file)})`)
    },
    close: async () => (await engine)?.close(),
  }
}

const keysOf = ({ name }: Table) => `keys_of_${name}`

/** SQL for the key and its hashes of a file's rows. Rows with a null in the key are left out. */
function keyHashesSql({ table, readable }: KeyedFile): string {
  const key = `concat_ws('|', ${table.key.map((name) => `CAST("${name}" AS VARCHAR)`).join(', ')})`
  const hasFullKey = table.key.map((name) => `"${name}" IS NOT NULL`).join(' AND ')
  const source = sourceSql(readable, textColumns(table.columns))
  return `SELECT ${key} AS key, hash(${key}) AS a, hash(${key}, 'second') AS b FROM ${source} WHERE ${hasFullKey}`
}

/** Throws VERIFY_FAILED if a key of the file is in `keyTable`, a table or subquery of hashes. */
async function assertNoDuplicates(
  connection: DuckDBConnection,
  file: KeyedFile,
  keyTable: string,
): Promise<void> {
  const query = `SELECT key FROM (${keyHashesSql(file)}) AS rows SEMI JOIN ${keyTable} AS keys USING (a, b) LIMIT 1`
  const [duplicate] = (await connection.runAndReadAll(query)).getRowsJS()
  if (duplicate === undefined) return
  throw duplicateRowError(file.name, file.table, String(duplicate[0]).split('|'))
}

/** Does not say that nothing was loaded: remote files are checked one by one, and earlier ones may be committed. */
export function duplicateRowError(path: string, table: Table, key: readonly string[]): ExportError {
  const row = `${table.key.join(', ')} = ${key.join(', ')}`
  return new ExportError('VERIFY_FAILED', `${path}: the export contains a duplicate row: ${row}`, {
    fix: 'Export again with run --fresh, then load again; walletlake verify lists the duplicate rows.',
  })
}
