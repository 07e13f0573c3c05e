import type { DuckDBConnection } from '@duckdb/node-api'
import type { DataFile } from '../core/duckdb/data-file.ts'
import { sourceSql, textColumns } from '../core/duckdb/source-sql.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Table, TableName } from '../core/table/index.ts'
import { openEngine } from './open-engine.ts'

/** A file of an export on this machine. */
export type KeyedFile = { readonly table: Table; readonly name: string; readonly readable: DataFile }

/** Finds rows that have the same key: an engine would count them twice, or keep only one of them. */
export type KeyCheck = {
  /** Takes the keys of a file that is to be loaded. Throws VERIFY_FAILED where it or a file before has one of them. */
  add(file: KeyedFile): Promise<void>
  /** Compares a file that has been loaded with those to be loaded. Throws VERIFY_FAILED as `add` does. */
  compare(file: KeyedFile): Promise<void>
  close(): Promise<void>
}

/** Keys are kept as two hashes of 64 bits. `scratch` takes what does not fit into `memory`. */
export function createKeyCheck(scratchFolder: string, memory: string): KeyCheck {
  let engine: ReturnType<typeof openEngine> | undefined
  const loadedTables = new Set<TableName>()
  return {
    add: async (file) => {
      engine ??= openEngine({ scratchFolder, name: 'keys', memory })
      const { connection } = await engine
      const keys = keysOf(file.table)
      if (loadedTables.has(file.table.name)) await assertNoDuplicates(connection, file, keys)
      else await connection.run(`CREATE TABLE ${keys} (a UBIGINT, b UBIGINT)`)
      loadedTables.add(file.table.name)
      const duplicates = `(SELECT a, b FROM (${keyHashesSql(file)}) GROUP BY a, b HAVING count(*) > 1)`
      await assertNoDuplicates(connection, file, duplicates)
      await connection.run(`INSERT INTO ${keys} SELECT a, b FROM (${keyHashesSql(file)})`)
    },
    compare: async (file) => {
      if (engine === undefined || !loadedTables.has(file.table.name)) return
      await assertNoDuplicates((await engine).connection, file, keysOf(file.table))
    },
    close: async () => (await engine)?.close(),
  }
}

const keysOf = ({ name }: Table) => `keys_of_${name}`

/** A file's rows with the hashes of their keys; rows whose key is not complete cannot be compared. */
function keyHashesSql({ table, readable }: KeyedFile): string {
  const key = `concat_ws('|', ${table.key.map((name) => `CAST("${name}" AS VARCHAR)`).join(', ')})`
  const hasFullKey = table.key.map((name) => `"${name}" IS NOT NULL`).join(' AND ')
  const source = sourceSql(readable, textColumns(table.columns))
  return `SELECT ${key} AS key, hash(${key}) AS a, hash(${key}, 'second') AS b FROM ${source} WHERE ${hasFullKey}`
}

/** `known`: a table of hashes, or a query of them. */
async function assertNoDuplicates(
  connection: DuckDBConnection,
  file: KeyedFile,
  keyTable: string,
): Promise<void> {
  const query = `SELECT key FROM (${keyHashesSql(file)}) AS rows SEMI JOIN ${keyTable} AS keys USING (a, b) LIMIT 1`
  const [duplicate] = (await connection.runAndReadAll(query)).getRowsJS()
  if (duplicate === undefined) return
  const key = `${file.table.key.join(', ')} = ${String(duplicate[0]).replaceAll('|', ', ')}`
  throw new ExportError('VERIFY_FAILED', `${file.name}: the export has a row twice: ${key}`, {
    fix: 'Nothing was loaded. Export again with run --fresh; walletlake verify names all such rows.',
  })
}
