import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'

export type EngineOptions = {
  /** Folder for data that does not fit into memory. */
  readonly scratchFolder: string
  /** Subfolder of `scratchFolder` for this engine. */
  readonly name: string
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
}

/** Opens an in-memory DuckDB. The caller must call `close`. */
export async function openEngine({ scratchFolder, name, memory }: EngineOptions): Promise<{
  connection: DuckDBConnection
  close(): void
}> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: memory,
    temp_directory: join(scratchFolder, name),
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  return { connection, close }
}
