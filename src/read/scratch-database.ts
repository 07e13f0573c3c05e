import { realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { createScratchFolder, toScratchError } from '../core/platform/scratch-folder.ts'

/** Memory that the engine may take before it moves its work to the disk. */
const MAX_MEMORY_BYTES = 256_000_000
const memorySql = (bytes: number) => `SET memory_limit = '${bytes}B'`

export type ResultRow = Record<string, string | number | bigint | boolean | null>

/** A row whose cells are text. */
export type TextRow = readonly (string | null)[]

/** SQL over the files of one output. Rows come and stay in file order: there is one thread. */
export type ScratchDatabase = {
  /** The output folder under a path without letters that the engine would read as a pattern. */
  readonly folder: string
  /** For whatever has to lie on the disk meanwhile; goes away with `close`. */
  readonly scratchFolder: string
  run(sql: string): Promise<void>
  /** All rows of an answer, as objects; only for answers that are short. */
  all(sql: string): Promise<ResultRow[]>
  /** Lets the engine have so much memory from now on; all that it may have where nothing is said. */
  limitMemory(bytes?: number): Promise<void>
  /** Rows of an answer in batches; `cells` are expressions of text, `from` is the rest of the statement. */
  stream(cells: readonly string[], from: string): AsyncGenerator<TextRow[], void, void>
  /** Of the engine itself. */
  readonly connection: DuckDBConnection
  close(): Promise<void>
}

/**
 * Opens the engine (DuckDB) with a scratch database under the system's temporary folder.
 *
 * The output folder is reached through a link, because a `*` or `[` in its name would be taken for a pattern.
 * `close` removes everything again.
 */
export async function openScratchDatabase(output: string): Promise<ScratchDatabase> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const scratchFolder = await createScratchFolder('verify')
  try {
    const folder = join(scratchFolder, 'output')
    await symlink(await realpath(output), folder, 'junction')
    /** What fails because of the temporary folder is no fault of an export. */
    const rethrow = (thrown: unknown): never => {
      throw toScratchError(thrown, scratchFolder) ?? thrown
    }
    const database = DuckDBInstance.create(join(scratchFolder, 'rows.duckdb'), settings(scratchFolder))
    const instance = await database.catch(rethrow)
    const connection = await instance.connect()
    // Nobody opens the database again: to put it in order took a sixth of a small export's check.
    await connection.run('PRAGMA disable_checkpoint_on_shutdown')
    return {
      ...{ folder, scratchFolder },
      run: async (sql) => void (await connection.run(sql).catch(rethrow)),
      all: async (sql) =>
        (await connection.runAndReadAll(sql).catch(rethrow)).getRowObjectsJS() as ResultRow[],
      limitMemory: async (bytes = MAX_MEMORY_BYTES) => void (await connection.run(memorySql(bytes))),
      stream: (cells, from) => streamRows(connection, cells, from),
      connection,
      close: async () => {
        connection.closeSync()
        instance.closeSync()
        await rm(scratchFolder, { recursive: true, force: true })
      },
    }
  } catch (thrown) {
    await rm(scratchFolder, { recursive: true, force: true })
    throw thrown
  }
}

/** One JSON text a row is eight times as fast as a cell at a time. */
async function* streamRows(
  connection: DuckDBConnection,
  cells: readonly string[],
  from: string,
): AsyncGenerator<TextRow[], void, void> {
  const result = await connection.stream(`SELECT json_array(${cells.join(', ')}) ${from}`)
  // The engine makes the next rows meanwhile: 328,000 rows of CSV convert in 4.5 s, without it in 5.6 s (means of four in turns).
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

function settings(scratch: string): Record<string, string> {
  return {
    threads: '1',
    memory_limit: `${MAX_MEMORY_BYTES}B`,
    temp_directory: join(scratch, 'spill'),
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
  }
}
