import { realpath, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { makeScratch } from '../core/scratch-folder.ts'

/** Memory that the engine may take before it moves its work to the disk. */
const MEMORY = '256MB'

export type Found = Record<string, string | number | bigint | boolean | null>

/** SQL over the files of one output. Rows come and stay in file order: there is one thread. */
export type Rows = {
  /** The output folder under a path without letters that the engine would read as a pattern. */
  readonly folder: string
  /** For whatever has to lie on the disk meanwhile; goes away with `close`. */
  readonly scratch: string
  run(sql: string): Promise<void>
  /** All rows of an answer, as objects; only for answers that are short. */
  all(sql: string): Promise<Found[]>
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
    const instance = await DuckDBInstance.create(join(scratch, 'rows.duckdb'), settings(scratch))
    const connection = await instance.connect()
    return {
      ...{ folder, scratch },
      run: async (sql) => void (await connection.run(sql)),
      all: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJS() as Found[],
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

function settings(scratch: string): Record<string, string> {
  return {
    threads: '1',
    memory_limit: MEMORY,
    temp_directory: join(scratch, 'spill'),
    preserve_insertion_order: 'true',
    autoinstall_known_extensions: 'false',
  }
}
