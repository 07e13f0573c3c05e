import { rm } from 'node:fs/promises'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** Loads DuckDB (70 MB of native code) on first use. */
export const loadDuckDb = async (): Promise<typeof import('@duckdb/node-api')> =>
  (await import('@duckdb/node-api')).default

/**
 * Memory limit of an instance, in DuckDB's notation; `shared` uses the instance that all small operations
 * share.
 */
export type MemoryLimit = 'shared' | '160MB' | '640MB' | '2400MB'

/**
 * One thread and preserved insertion order: the output is the same on every run, whatever the memory limit.
 */
export const SETTINGS = { threads: '1', preserve_insertion_order: 'true' }
/**
 * Settings of the shared instance. It does not spill to disk: operations that need more memory get their own
 * instance.
 */
const SHARED = { memory_limit: '400MB', temp_directory: '' }

/** The shared instance while it has users. Creating an instance takes as long as writing a small table. */
let shared: { instance: Promise<DuckDBInstance>; users: number } | undefined

/**
 * Opens a connection to an in-memory DuckDB. The caller must call `close`. An instance of its own spills to
 * `scratch`, which `close` removes.
 */
export async function openDuckDb(
  memory: MemoryLimit,
  scratch: string,
): Promise<{ connection: DuckDBConnection; close(): Promise<void> }> {
  const { DuckDBInstance } = await loadDuckDb()
  if (memory === 'shared') {
    shared ??= { instance: DuckDBInstance.create(':memory:', { ...SETTINGS, ...SHARED }), users: 0 }
    return connectShared(shared)
  }
  const own = { memory_limit: memory, temp_directory: scratch }
  const instance = DuckDBInstance.create(':memory:', { ...SETTINGS, ...own })
  const { connection, close } = await connectShared({ instance, users: 0 })
  return { connection, close: () => close().then(() => rm(scratch, { recursive: true, force: true })) }
}

async function connectShared(handle: NonNullable<typeof shared>) {
  handle.users += 1
  const release = async () => {
    handle.users -= 1
    if (handle.users > 0) return
    if (handle === shared) shared = undefined
    const instance = await handle.instance
    instance.closeSync()
  }
  try {
    const connection = await (await handle.instance).connect()
    return {
      connection,
      close: async () => {
        connection.closeSync()
        await release()
      },
    }
  } catch (cause) {
    await release()
    throw cause
  }
}
