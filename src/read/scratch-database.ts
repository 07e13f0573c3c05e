import { realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { makeScratch, scratchFault } from '../core/platform/scratch-folder.ts'

/** Memory that the engine may take before it moves its work to the disk. */
const MEMORY = 256_000_000
const memorySql = (bytes: number) => `SET memory_limit = '${bytes}B'`

export type Found = Record<string, string | number | bigint | boolean | null>

/** A row whose cells are text. */
export type TextRow = readonly (string | null)[]

/** SQL over the files of one output. Rows come and stay in file order: there is one thread. */
export type Rows = {
  /** The output folder under a path without letters that the engine would read as a pattern. */
  readonly folder: string
  /** For whatever has to lie on the disk meanwhile; goes away with `close`. */
  readonly scratch: string
  run(sql: string): Promise<void>
  /** All rows of an answer, as objects; only for answers that are short. */
  all(sql: string): Promise<Found[]>
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
export async function openRows(output: string): Promise<Rows> {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const scratch = await makeScratch('verify')
  try {
    const folder = join(scratch, 'output')
    await symlink(await realpath(output), folder, 'junction')
    /** What fails because of the temporary folder is no fault of an export. */
    const failed = (thrown: unknown): never => {
      throw scratchFault(thrown, scratch) ?? thrown
    }
    const database = DuckDBInstance.create(join(scratch, 'rows.duckdb'), settings(scratch))
    const instance = await database.catch(failed)
    const connection = await instance.connect()
    // Nobody opens the database again: to put it in order took a sixth of a small export's check.
    await connection.run('PRAGMA disable_checkpoint_on_shutdown')
    return {
      ...{ folder, scratch },
      run: async (sql) => void (await connection.run(sql).catch(failed)),
      all: async (sql) => (await connection.runAndReadAll(sql).catch(failed)).getRowObjectsJS() as Found[],
      limitMemory: async (bytes = MEMORY) => void (await connection.run(memorySql(bytes))),
      stream: (cells, from) => streamRows(connection, cells, from),
      connection,
      close: async () => {
        connection.closeSync()
        instance.closeSync()
        await rm(scratch, { recursive: true, force: true })
      },
    }
  } catch (thrown) {
    await rm(scratch, { recursive: true, force: true })
    throw thrown
  }
}

/** One JSON text a row is eight times as fast as a cell at a time. */
async function* streamRows(
  connection: DuckDBConnection,
  cells: readonly string[],
  from: string,
): AsyncGenerator<TextRow[], void, void> {
  const answer = await connection.stream(`SELECT json_array(${cells.join(', ')}) ${from}`)
  // The engine makes the next rows meanwhile: 328,000 rows of CSV convert in 4.5 s, without it in 5.6 s (means of four in turns).
  let next = answer.fetchChunk()
  try {
    for (;;) {
      const chunk = await next
      if (chunk === null || chunk.rowCount === 0) return
      next = answer.fetchChunk()
      yield chunk.getColumnValues(0).map((row) => JSON.parse(String(row)) as TextRow)
    }
  } finally {
    await next.catch(() => {})
  }
}

function settings(scratch: string): Record<string, string> {
  return {
    threads: '1',
    memory_limit: `${MEMORY}B`,
    temp_directory: join(scratch, 'spill'),
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
  }
}
