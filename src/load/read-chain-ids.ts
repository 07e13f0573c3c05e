import type { DuckDBConnection } from '@duckdb/node-api'
import { readError } from './read-error.ts'
import { chainIdsSql } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Chain ids that a file's rows carry. Throws VERIFY_FAILED where it cannot be read. */
export async function readChainIds(
  connection: DuckDBConnection,
  file: LocalFile,
): Promise<readonly string[]> {
  const read = await connection.runAndReadAll(chainIdsSql(file)).catch((cause: unknown) => {
    throw readError(file, cause)
  })
  return read.getRowsJS().map(([id]) => String(id))
}
