import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Table } from '../../core/table/index.ts'
import { mismatchError } from '../../read/check-files.ts'
import { statementsForMissingColumns } from '../check-columns.ts'
import { engineError, importDriver } from '../engine-error.ts'
import { LOADS_TABLE, parseLoadRecord, recordCells } from '../loads-table.ts'
import type { Reader } from '../reader.ts'
import { columnList, STAGE } from '../staged-merge.ts'
import type { LoadTarget, LocalFile, Statements, TableBlocks } from '../target.ts'

export type ClickhouseOptions = {
  /** HTTP or HTTPS URL without credentials and database. */
  readonly url: string
  readonly username: string
  readonly password: string
  readonly database: string
  /** Without credentials, for messages. */
  readonly title: string
  readonly sql: Statements
  readonly reader: Reader
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
export async function openClickhouse(options: ClickhouseOptions): Promise<LoadTarget> {
  const { title, password, database, sql } = options
  const client = await connect(options)
  const withEngineErrors: WithEngineErrors = (work, operation = title) =>
    work.catch((cause: unknown) => {
      throw engineError(operation, cause, { secrets: [password] })
    })
  const command = (query: string, values: Record<string, unknown> = {}) =>
    withEngineErrors(client.command({ query, query_params: values, clickhouse_settings: COMMAND_SETTINGS }))
  return {
    transactions: 'none',
    begin: async () => undefined,
    prepare: async (tables) => {
      for (const statement of sql.createSchema) await command(statement)
      for (const table of [...tables, LOADS_TABLE]) {
        const found = await withEngineErrors(
          columnsOf(client, { table: sql.prefix + table.name, database: sql.schema ?? database }),
        )
        const statements =
          found.length > 0 ? statementsForMissingColumns(table, found, sql) : sql.create(table)
        for (const statement of statements) await command(statement)
      }
    },
    ...loadRecords(client, { sql, withEngineErrors, command }),
    ...loadRows(client, { ...options, withEngineErrors, command }),
    commit: async () => undefined,
    rollback: async () => undefined,
    close: () => client.close(),
  }
}

/** Awaits an operation and converts its errors to ExportErrors that name the operation. */
type WithEngineErrors = <T>(work: Promise<T>, what?: string) => Promise<T>

type ClickhouseContext = {
  readonly sql: Statements
  readonly withEngineErrors: WithEngineErrors
  readonly command: (query: string, values?: Record<string, unknown>) => Promise<unknown>
}

/** Implements the records of loaded files. */
function loadRecords(
  client: ClickHouseClient,
  { sql, withEngineErrors, command }: ClickhouseContext,
): Pick<LoadTarget, 'records' | 'saveRecord' | 'deleteRecords'> {
  const loads = sql.identifier(LOADS_TABLE.name)
  return {
    records: async () => {
      const response = await withEngineErrors(
        client.query({ query: `SELECT * FROM ${loads} FINAL`, format: 'JSONEachRow' }),
      )
      return ((await withEngineErrors(response.json())) as Record<string, unknown>[]).map(toLoadRecord)
    },
    saveRecord: async (record) => {
      const names = LOADS_TABLE.columns.map(({ name }) => name)
      const cells = recordCells(record)
      const row = Object.fromEntries(names.map((name, at) => [name, cells[at]]))
      const settings = { ...INSERT_SETTINGS }
      await withEngineErrors(
        client.insert({ table: loads, values: [row], format: 'JSONEachRow', clickhouse_settings: settings }),
      )
    },
    deleteRecords: async (records) => {
      const where =
        'output_id = {output:String} AND table_name = {table:String} AND path = {path:String} AND sha256 = {sha256:String}'
      for (const { outputId: output, table, path, sha256 } of records)
        await command(`DELETE FROM ${loads} WHERE ${where}`, { output, table, path, sha256 })
    },
  }
}

/** Implements the stage, and inserting and merging rows. */
function loadRows(
  client: ClickHouseClient,
  {
    sql,
    withEngineErrors,
    command,
    reader,
    title,
  }: ClickhouseContext & Pick<ClickhouseOptions, 'reader' | 'title'>,
): Pick<LoadTarget, 'isEmpty' | 'chainIds' | 'createStage' | 'insert' | 'findDuplicate' | 'merge'> {
  const { identifier, quote } = sql
  const query = async (text: string, values: Record<string, unknown> = {}) => {
    const response = await withEngineErrors(
      client.query({ query: text, query_params: values, format: 'JSONEachRow' }),
    )
    return withEngineErrors(response.json<Record<string, unknown>>())
  }
  // Temporary tables belong to a session, which a load balancer may not keep.
  const stage = identifier(STAGE)
  const keyOf = ({ key }: Table) => `(${key.map(quote).join(', ')})`
  return {
    isEmpty: async ({ name }) => (await query(`SELECT 1 FROM ${identifier(name)} LIMIT 1`)).length === 0,
    chainIds: reader.chainIds,
    createStage: async (table) => {
      await command(`DROP TABLE IF EXISTS ${stage}`)
      const rows = `SELECT ${columnList(table, sql)} FROM ${identifier(table.name)} WHERE 1 = 0`
      await command(`CREATE TABLE ${stage} ENGINE = MergeTree ORDER BY tuple() AS ${rows}`)
    },
    insert: async (file, into) => {
      const { path, rows } = await reader.toCsv(file, { timeAsText: true })
      const name = into === 'stage' ? stage : identifier(file.table.name)
      try {
        if (rows !== file.rows) throw mismatchError(file.name, `expected ${file.rows} rows, found ${rows}`)
        if (rows > 0)
          await withEngineErrors(insertCsv(client, { file, path, name }), `${file.name} into ${title}`)
        return rows
      } finally {
        await rm(path, { force: true })
      }
    },
    findDuplicate: async (table, blocks) => {
      if (blocks.ranges.length === 0) return undefined
      const from = `${identifier(table.name)} FINAL WHERE ${isWithin(blocks)} AND ${keyOf(table)} IN`
      const [row] = await query(
        `SELECT ${table.key.map(quote).join(', ')} FROM ${from} (SELECT ${table.key.map(quote).join(', ')} FROM ${stage}) LIMIT 1`,
        { chains: blocks.chainIds },
      )
      return row && table.key.map((column) => String(row[column]))
    },
    merge: async (table, removed) => {
      const [name, columns, key] = [identifier(table.name), columnList(table, sql), keyOf(table)]
      const staged = `SELECT ${table.key.map(quote).join(', ')} FROM ${stage}`
      const unchanged = `SELECT ${columns} FROM ${name} FINAL WHERE ${key} IN (${staged})`
      await command(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${stage} EXCEPT ${unchanged}`)
      if (removed.ranges.length > 0)
        await command(`DELETE FROM ${name} WHERE ${isWithin(removed)} AND ${key} NOT IN (${staged})`, {
          chains: removed.chainIds,
        })
      await command(`DROP TABLE ${stage}`)
    },
  }
}

/** SQL condition that a row belongs to one of the chains in the parameter `chains` and one of these blocks. */
function isWithin({ ranges }: TableBlocks): string {
  const isInRange = ranges
    .map(({ from, to }) => `(block_number >= ${from} AND block_number < ${to})`)
    .join(' OR ')
  return `chain_id IN {chains:Array(String)} AND (${isInRange})`
}

async function connect(options: ClickhouseOptions): Promise<ClickHouseClient> {
  const { url, username, password, database, title } = options
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

async function columnsOf(
  client: ClickHouseClient,
  { table, database }: { table: string; database: string },
): Promise<{ name: string; declared: string }[]> {
  const response = await client.query({
    query:
      'SELECT name, type AS declared FROM system.columns WHERE database = {database:String} AND table = {table:String}',
    query_params: { database, table },
    format: 'JSONEachRow',
  })
  return response.json()
}

async function insertCsv(
  client: ClickHouseClient,
  { file, path, name }: { file: LocalFile; path: string; name: string },
): Promise<void> {
  const [first = '', ...others] = file.table.columns.map(({ name }) => name)
  await client.insert({
    table: name,
    columns: [first, ...others],
    values: createReadStream(path, { highWaterMark: 1 << 18 }),
    format: 'CSV',
    clickhouse_settings: INSERT_SETTINGS,
  })
}

/** Parses a record. ClickHouse returns times as `2024-01-02 03:04:05.006`, in UTC. */
function toLoadRecord(row: Record<string, unknown>): ReturnType<typeof parseLoadRecord> {
  const time = String(row.loaded_at)
  const loaded_at = time.includes('T') ? time : `${time.replace(' ', 'T')}Z`
  return parseLoadRecord({ ...row, loaded_at })
}
