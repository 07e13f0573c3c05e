import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { mismatchError } from '../../read/check-files.ts'
import { DIALECTS } from '../ddl/dialects.ts'
import { engineError, importDriver } from '../engine-error.ts'
import type { Reader } from '../reader.ts'
import type { Engine } from '../target.ts'

export type ClickhouseAddress = {
  /** HTTP or HTTPS URL without credentials and database. */
  readonly url: string
  readonly username: string
  readonly password: string
  readonly database: string
  /** Without credentials, for messages. */
  readonly title: string
}

/**
 * Settings for inserts. `insert_deduplicate` is off because a replicated table would take rows that are inserted again
 * after a deletion for a repeated request and drop them.
 */
const INSERT_SETTINGS = {
  date_time_input_format: 'best_effort',
  input_format_csv_empty_as_default: 1,
  insert_deduplicate: 0,
  async_insert: 0,
} as const

/** Settings for other statements that write. */
const COMMAND_SETTINGS = { insert_deduplicate: 0 } as const

/** Timeout per request, in milliseconds: enough for a file with a million rows. */
const REQUEST_TIMEOUT_MS = 600_000

/**
 * Opens a ClickHouse database over HTTP. There are no transactions: a file counts as loaded once its record is saved.
 * Rows with the same key are merged into the last inserted one; `FINAL` reads them merged at any time.
 */
export async function openClickhouse(address: ClickhouseAddress, reader: Reader): Promise<Engine> {
  const { title, password, database } = address
  const client = await connect(address)
  const withEngineErrors = <T>(work: Promise<T>, operation = title) =>
    work.catch((cause: unknown) => {
      throw engineError(operation, cause, { secrets: [password] })
    })
  return {
    transactions: 'none',
    dialect: DIALECTS.clickhouse,
    query: (statement) =>
      withEngineErrors(
        statement.startsWith('SELECT') ? select(client, statement) : command(client, statement),
      ),
    columnsSql: ({ schema = database, name }) =>
      `SELECT name, type, 0 AS filled FROM system.columns WHERE database = ${DIALECTS.clickhouse.literal(schema)} AND table = ${DIALECTS.clickhouse.literal(name)}`,
    insert: async (file, into) => {
      const { path, rows } = await reader.toCsv(file, { timeAsText: true })
      try {
        if (rows !== file.rows) throw mismatchError(file.name, `expected ${file.rows} rows, found ${rows}`)
        const [first = '', ...others] = file.table.columns.map(({ name }) => name)
        const inserted = {
          table: into,
          columns: [first, ...others] as [string, ...string[]],
          values: createReadStream(path, { highWaterMark: 1 << 18 }),
          format: 'CSV',
          clickhouse_settings: INSERT_SETTINGS,
        } as const
        if (rows > 0) await withEngineErrors(client.insert(inserted), `${file.name} into ${title}`)
        return rows
      } finally {
        await rm(path, { force: true })
      }
    },
    insertRow: async (table, row) => {
      const settings = { clickhouse_settings: INSERT_SETTINGS }
      await withEngineErrors(client.insert({ table, values: [row], format: 'JSONEachRow', ...settings }))
    },
    commit: async () => undefined,
    rollback: async () => undefined,
    close: () => client.close(),
  }
}

async function select(client: ClickHouseClient, query: string): Promise<Record<string, unknown>[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json()
}

async function command(client: ClickHouseClient, query: string): Promise<[]> {
  await client.command({ query, clickhouse_settings: COMMAND_SETTINGS })
  return []
}

async function connect(address: ClickhouseAddress): Promise<ClickHouseClient> {
  const { url, username, password, database, title } = address
  const { createClient } = await importDriver('@clickhouse/client', () => import('@clickhouse/client'))
  const client = createClient({
    url,
    username,
    password,
    database,
    application: 'walletlake',
    request_timeout: REQUEST_TIMEOUT_MS,
    log: { level: 127 },
  })
  try {
    await (await client.query({ query: 'SELECT 1', format: 'JSONEachRow' })).json()
    return client
  } catch (cause) {
    await client.close()
    throw engineError(`cannot connect to ${title}`, cause, {
      secrets: [password],
      fix: 'Check the host, HTTP port, database and user; the password can be set in CLICKHOUSE_PASSWORD.',
    })
  }
}
