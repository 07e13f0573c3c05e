import type { DuckDBConnection } from '@duckdb/node-api'
import { readError } from './read-error.ts'
import { chainIdsSql } from './scan-sql.ts'
import type { LocalFile } from './target.ts'

/** Reads the distinct chain ids of a file's rows. Throws VERIFY_FAILED if the file cannot be read. */
export async function readChainIds(
  connection: DuckDBConnection,
  file: LocalFile,
): Promise<readonly string[]> {
  const read = await connection.runAndReadAll(chainIdsSql(file)).catch((cause: unknown) => {
    throw readError(file, cause)
  })
  return read.getRowsJS().map(([id]) => String(id))
}
