import { join } from 'node:path'
import { type OwnDatabase, openOwnDatabase } from '../core/duckdb/own-database.ts'

export type EngineOptions = {
  /** Folder for data that does not fit into memory. */
  readonly scratchFolder: string
  /** Subfolder of `scratchFolder` for this engine. */
  readonly name: string
  /** DuckDB's memory limit, such as 256MB; more data is spilled to disk. */
  readonly memory: string
}

/** Opens an in-memory DuckDB. The caller must call `close`. */
export function openEngine({ scratchFolder, name, memory }: EngineOptions): Promise<OwnDatabase> {
  return openOwnDatabase({ memory, spillFolder: join(scratchFolder, name) })
}
