import { realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { openOwnDatabase } from '../core/duckdb/own-database.ts'
import { createScratchFolder, toScratchError } from '../core/platform/scratch-folder.ts'

/** DuckDB's default memory limit; larger operations spill to disk. */
const MAX_MEMORY_BYTES = 256_000_000
const memorySql = (bytes: number) => `SET memory_limit = '${bytes}B'`

export type ResultRow = Record<string, string | number | bigint | boolean | null>

/** A row of text cells. */
export type TextRow = readonly (string | null)[]

/** A DuckDB database for the files of one output. It has one thread, so rows keep their file order. */
export type ScratchDatabase = {
  /** Path of the output folder without characters that DuckDB would treat as a glob pattern. */
  readonly folder: string
  /** Folder for temporary files; `close` removes it. */
  readonly scratchFolder: string
  run(sql: string): Promise<void>
  /** All rows of a result as objects; only for small results. */
  all(sql: string): Promise<ResultRow[]>
  /** Sets the memory limit; without an argument, restores the default. */
  limitMemory(bytes?: number): Promise<void>
  /**
   * Streams the rows of a result in batches. `cells` are text expressions, `from` is the rest of the
   * statement.
   */
  stream(cells: readonly string[], from: string): AsyncGenerator<TextRow[], void, void>
  /** The underlying connection. */
  readonly connection: DuckDBConnection
  close(): Promise<void>
}

/**
 * Opens DuckDB with a scratch database in the system's temporary folder.
 *
 * The output folder is accessed through a symbolic link, because a `*` or `[` in its path would be treated as
 * a glob pattern. `close` removes everything.
 */
export async function openScratchDatabase(output: string): Promise<ScratchDatabase> {
  const scratchFolder = await createScratchFolder('verify')
  try {
    const folder = join(scratchFolder, 'output')
    await symlink(await realpath(output), folder, 'junction')
    /** Errors of the temporary folder are not errors of the export. */
    const rethrow = (error: unknown): never => {
      throw toScratchError(error, scratchFolder) ?? error
    }
    const spillFolder = join(scratchFolder, 'spill')
    const database = await openOwnDatabase({ memory: `${MAX_MEMORY_BYTES}B`, spillFolder }).catch(rethrow)
    const { connection } = database
    return {
      folder,
      scratchFolder,
      run: async (sql) => void (await connection.run(sql).catch(rethrow)),
      all: async (sql) =>
        (await connection.runAndReadAll(sql).catch(rethrow)).getRowObjectsJS() as ResultRow[],
      limitMemory: async (bytes = MAX_MEMORY_BYTES) => void (await connection.run(memorySql(bytes))),
      stream: (cells, from) => streamRows(connection, cells, from),
      connection,
      close: async () => {
        await database.close()
        await rm(scratchFolder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(scratchFolder, { recursive: true, force: true })
    throw error
  }
}

/** Rows are read as one JSON text each, which is eight times as fast as reading single cells. */
async function* streamRows(
  connection: DuckDBConnection,
  cells: readonly string[],
  from: string,
): AsyncGenerator<TextRow[], void, void> {
  const result = await connection.stream(`SELECT json_array(${cells.join(', ')}) ${from}`)
  // DuckDB produces the next chunk meanwhile: 328,000 CSV rows convert in 4.5 s instead of 5.6 s (means of
  // four runs).
  let next = result.fetchChunk()
  try {
    for (;;) {
      const chunk = await next
      if (chunk === null || chunk.rowCount === 0) return
      next = result.fetchChunk()
      yield chunk.getColumnValues(0).map((row) => JSON.parse(String(row)) as TextRow)
    }
  } finally {
    await next.catch(() => {})
  }
}
