import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { loadDuckDb, SETTINGS } from './connection.ts'

/** An in-memory database with a connection, apart from all others of the process. */
export type OwnDatabase = {
  readonly connection: DuckDBConnection
  close(): Promise<void>
}

export type OwnDatabaseOptions = {
  /** Memory limit in DuckDB's notation; more data is spilled to `spillFolder`. */
  readonly memory: string
  /** Created when it is needed. */
  readonly spillFolder: string
}

/** Instances that no database uses. Creating one takes 20 ms, a tenth of the time of verifying a small export. */
const idle: DuckDBInstance[] = []
const MAX_IDLE = 2

/** Opens a database on an instance of its own. The caller must call `close`. */
export async function openOwnDatabase(options: OwnDatabaseOptions): Promise<OwnDatabase> {
  const used = idle.pop()
  const reopened = used === undefined ? undefined : await openOn(used, options).catch(() => undefined)
  return reopened ?? openOn(await createInstance(), options)
}

async function createInstance(): Promise<DuckDBInstance> {
  const { DuckDBInstance } = await loadDuckDb()
  return DuckDBInstance.create(':memory:', { ...SETTINGS, autoinstall_known_extensions: 'false' })
}

/** Closes the instance if it cannot be set up: its configuration is locked, or it has spilled to another folder. */
async function openOn(
  instance: DuckDBInstance,
  { memory, spillFolder }: OwnDatabaseOptions,
): Promise<OwnDatabase> {
  const connection = await instance.connect()
  try {
    await connection.run(`SET memory_limit = '${memory}'`)
    await connection.run(`SET temp_directory = '${spillFolder.replaceAll("'", "''")}'`)
    await connection.run(`ATTACH ':memory:' AS own`)
    await connection.run('USE own')
  } catch (cause) {
    connection.closeSync()
    instance.closeSync()
    throw cause
  }
  return { connection, close: () => close(instance, connection) }
}

async function close(instance: DuckDBInstance, connection: DuckDBConnection): Promise<void> {
  const isDetached = await connection.run('USE memory; DETACH own').then(
    () => true,
    () => false,
  )
  connection.closeSync()
  if (isDetached && idle.length < MAX_IDLE) idle.push(instance)
  else instance.closeSync()
}
