import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

const require = createRequire(import.meta.url)

/**
 * Loads DuckDB, 70 MB of native code, which takes a while; from the second time on it is there. An import would take twice
 * as long: it reads CommonJS modules for their names before it runs them.
 */
export const loadDuckDb = async () => require('@duckdb/node-api') as typeof import('@duckdb/node-api')

/** Memory of a piece of work, as DuckDB spells it, or what all small ones share. */
export type MemoryLimit = 'shared' | '160MB' | '640MB' | '2400MB'

/** One thread and kept insertion order: the same bytes on every run, whatever the memory. */
export const SETTINGS = { threads: '1', preserve_insertion_order: 'true' }
/** Of all that is shared. Nothing of it goes to disk: work that asks for more gets its own. */
const SHARED = { memory_limit: '400MB', temp_directory: '' }

/** The one that is shared, while somebody uses it: it takes as long to make as a small table takes to write. */
let shared: { instance: Promise<DuckDBInstance>; users: number } | undefined

/** A connection to a DuckDB in memory; `close` is to be called in the end. Files of its own, if any, go into `scratch`. */
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
