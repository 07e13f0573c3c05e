import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import sqlite3 from 'node-sqlite3-wasm'
import pg from 'pg'
import { type Column, type TableName, tableByName } from '../../src/core/table/index.ts'
import type { LoadableUrl } from '../../src/load/addresses.ts'
import { parseTargetUrl } from '../../src/load/addresses.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import type { Cells } from '../verify/export/model-export.ts'
import { type ClickhouseStandIn, startClickhouse } from './start-clickhouse.ts'
import { noPostgres, type Postgres, startPostgres } from './start-postgres.ts'

/** A new, empty database, read with the engine's own driver and no code under test. */
export type Place = {
  readonly to: LoadableUrl
  /** What `to` is parsed from. */
  readonly address: string
  /** All rows of a table as text in the contract's form, in no particular order. */
  rows(table: TableName, name?: string): Promise<Cells[]>
  /** Runs statements. Resolves with rows. */
  run(sql: string): Promise<Record<string, unknown>[]>
}

export type Engine = {
  readonly name: 'duckdb' | 'sqlite' | 'postgres' | 'clickhouse'
  readonly skipped: boolean
  /** Whether a failed load is rolled back. */
  readonly transactions: boolean
  /** Types of a nullable column, as the engine reports them. */
  readonly integer: string
  readonly text: string
  start(): Promise<void>
  place(): Promise<Place>
  stop(): Promise<void>
}

const nothing = async () => {}

export const duckdb: Engine = {
  name: 'duckdb',
  skipped: false,
  transactions: true,
  start: nothing,
  stop: nothing,
  integer: 'INTEGER',
  text: 'VARCHAR',
  place: async () => {
    const file = join(tempFolder(), 'lake.duckdb')
    const run = async (sql: string) => {
      const instance = await DuckDBInstance.create(file)
      const connection = await instance.connect()
      try {
        return (await connection.runAndReadAll(sql)).getRowObjectsJS()
      } finally {
        connection.closeSync()
        instance.closeSync()
      }
    }
    const time = (cell: string) => `strftime(make_timestamp(epoch_us(${cell})), '%Y-%m-%dT%H:%M:%S.%gZ')`
    const rows: Place['rows'] = async (table, name) => {
      const framed = await readText(run, { table, name, time, frame: (cell) => `'|' || ${cell}` })
      return framed.map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, cell]) => [key, cell?.slice(1) ?? null])),
      )
    }
    return { ...addressed(`duckdb:${file}`), run, rows }
  },
}

export const sqlite: Engine = {
  name: 'sqlite',
  skipped: false,
  transactions: true,
  start: nothing,
  stop: nothing,
  integer: 'INTEGER',
  text: 'TEXT',
  place: async () => {
    const file = join(tempFolder(), 'lake.sqlite')
    const run = async (sql: string) => {
      const db = new sqlite3.Database(file)
      try {
        return db.all(sql) as Record<string, unknown>[]
      } finally {
        db.close()
      }
    }
    const bool = (cell: string) => `CASE ${cell} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${cell} END`
    return {
      ...addressed(`sqlite:${file}`),
      run,
      rows: (table, name) => readText(run, { table, name, bool }),
    }
  },
}

let server: Postgres | undefined
let databases = 0

export const postgres: Engine = {
  name: 'postgres',
  skipped: noPostgres,
  transactions: true,
  integer: 'integer',
  text: 'text',
  start: async () => {
    server = await startPostgres()
  },
  stop: async () => server?.stop(),
  place: async () => {
    databases += 1
    const address = server?.url ?? ''
    const database = `lake${databases}`
    await withClient(address, (client) => client.query(`CREATE DATABASE ${database}`))
    const url = address.replace(/\/postgres$/, `/${database}`)
    const run = async (sql: string) => (await withClient(url, (client) => client.query(sql))).rows
    const time = (cell: string) => `to_char(${cell} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    return { ...addressed(url), run, rows: (table, name) => readText(run, { table, name, time }) }
  },
}

/** The stand-in server of the latest database. */
export let standIn: ClickhouseStandIn | undefined

export const clickhouse: Engine = {
  name: 'clickhouse',
  skipped: false,
  transactions: false,
  start: nothing,
  integer: 'Nullable(Int64)',
  text: 'Nullable(String)',
  stop: async () => standIn?.stop(),
  place: async () => {
    await standIn?.stop()
    const started = await startClickhouse()
    standIn = started
    return {
      ...addressed(`clickhouse://me:s3cr%40t@127.0.0.1:${started.port}/lake`),
      run: async (sql) => {
        started.run(sql)
        return []
      },
      rows: async (table, name = table) =>
        started
          .rows(name)
          .map((row) =>
            Object.fromEntries(tableByName(table).columns.map(({ name: cell }) => [cell, row[cell] ?? null])),
          ),
    }
  },
}

const addressed = (address: string) => ({ to: urlOf(address), address })

export const urlOf = (text: string) => parseTargetUrl(text, {}) as LoadableUrl

type Reading = {
  table: TableName
  name?: string | undefined
  time?: (cell: string) => string
  bool?: (cell: string) => string
  /** Wraps text, because DuckDB's driver strips a leading byte order mark. */
  frame?: (cell: string) => string
}

async function readText(
  run: Place['run'],
  { table, name = table, time, bool, frame = String }: Reading,
): Promise<Cells[]> {
  const asText = ({ name: column, type }: Column) => {
    const cell = `"${column}"`
    const form = type === 'time' ? (time?.(cell) ?? cell) : type === 'bool' ? (bool?.(cell) ?? cell) : cell
    return `${frame(`CAST(${form} AS TEXT)`)} AS ${cell}`
  }
  const columns = tableByName(table).columns.map(asText)
  return (await run(`SELECT ${columns.join(', ')} FROM ${name}`)) as Cells[]
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
