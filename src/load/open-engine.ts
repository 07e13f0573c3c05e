import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'

export type EngineOptions = {
  /** A folder for what does not fit into memory. */
  readonly scratchFolder: string
  /** The engine's own folder in it. */
  readonly name: string
  /** Memory that the engine may take before it moves its work to the disk, such as 256MB. */
  readonly memory: string
}

/** Opens DuckDB over no database of its own; `close` is to be called in the end. */
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
