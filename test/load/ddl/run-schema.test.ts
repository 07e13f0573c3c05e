import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import sqlite3 from 'node-sqlite3-wasm'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TABLES, type Table } from '../../../src/core/table/index.ts'
import { NAMINGS } from '../../../src/load/ddl/namings.ts'
import { schemaText } from '../../../src/load/ddl/schema-text.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { noPostgres, type Postgres, startPostgres } from '../start-postgres.ts'

const BIG = (2n ** 256n - 1n).toString()

/** An extreme value that a column's type must be able to hold. */
function sampleOf({ type }: Table['columns'][number]): string {
  const samples = { text: "'it''s'", int32: '2147483647', int64: '9223372036854775807', bool: 'true' }
  if (type === 'time') return "'2023-11-14T22:46:40.123Z'"
  if (type === 'u256') return `'${BIG}'`
  if (type === 'i256') return `'-${BIG}'`
  return type === 'decimal' ? `'-0.${'0'.repeat(254)}1'` : samples[type]
}

function insertOf({ name, columns }: Table): string {
  return `INSERT INTO "${name}" VALUES (${columns.map(sampleOf).join(', ')})`
}

/** The column names of a view, from its first source. */
const namesOf = (view: (typeof NAMINGS)['bigquery']['views'][number]) =>
  view.sources[0]?.columns.map(([name]) => name) ?? []

describe('in DuckDB', () => {
  async function open() {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    return async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJS()
  }

  test('creates the tables idempotently, with comments, and holds the widest values', async () => {
    const all = await open()
    await all(schemaText({ sql: 'duckdb' }))
    await all(schemaText({ sql: 'duckdb' }))
    for (const table of TABLES) {
      await all(insertOf(table))
      const [row] = await all(`SELECT * FROM "${table.name}"`)
      for (const { name, type } of table.columns) {
        if (type === 'u256') expect(row?.[name]).toBe(BigInt(BIG))
      }
      const [found] = await all(
        `SELECT count(comment) AS n FROM duckdb_columns() WHERE table_name = '${table.name}'`,
      )
      expect(Number(found?.n)).toBe(table.columns.length)
    }
    const [sum] = await all(
      `SELECT sum(value)::VARCHAR AS s FROM (FROM transactions UNION ALL FROM transactions)`,
    )
    expect(sum?.s).toBe((2n * BigInt(BIG)).toString())
  })

  test.for(['bigquery', 'cryo'] as const)('reads the tables with the names of %s', async (naming) => {
    const all = await open()
    await all(schemaText({ sql: 'duckdb' }))
    for (const table of TABLES) await all(insertOf(table))
    await all(schemaText({ sql: 'duckdb', naming }))
    for (const view of NAMINGS[naming].views) {
      const rows = await all(`SELECT * FROM ${NAMINGS[naming].schema}.${view.name}`)
      expect(rows).toHaveLength(view.sources.length)
      expect(Object.keys(rows[0] ?? {})).toEqual(namesOf(view))
    }
  })
})

describe('in SQLite', () => {
  test('creates the tables idempotently and keeps digits as text', () => {
    const db = new sqlite3.Database(join(tempFolder(), 'a.db'))
    db.exec(schemaText({ sql: 'sqlite' }))
    db.exec(schemaText({ sql: 'sqlite' }))
    for (const table of TABLES) {
      db.exec(insertOf(table))
      const row = db.get(`SELECT * FROM "${table.name}"`)
      for (const { name, type } of table.columns) {
        if (type === 'i256') expect(row?.[name]).toBe(`-${BIG}`)
        if (type === 'int64') expect(row?.[name]).toBe(9223372036854775807n)
      }
      expect(() => db.exec(insertOf(table))).toThrow('UNIQUE')
    }
    const stored = db.get("SELECT sql FROM sqlite_schema WHERE name = 'ledger'")
    expect(String(stored?.sql)).toContain('-- Stable id of the row.')
    db.close()
  })

  test.for(['bigquery', 'cryo'] as const)('reads the tables with the names of %s', (naming) => {
    const db = new sqlite3.Database(join(tempFolder(), 'a.db'))
    db.exec(schemaText({ sql: 'sqlite', namespace: { prefix: 'w_' } }))
    db.exec(schemaText({ sql: 'sqlite', naming, namespace: { prefix: 'w_' } }))
    for (const table of TABLES) db.exec(insertOf(table).replace('INTO "', 'INTO "w_'))
    for (const view of NAMINGS[naming].views) {
      const rows = db.all(`SELECT * FROM ${NAMINGS[naming].schema}_${view.name}`)
      expect(rows).toHaveLength(view.sources.length)
      expect(Object.keys(rows[0] ?? {})).toEqual(namesOf(view))
    }
    const transaction = db.get(`SELECT * FROM ${NAMINGS[naming].schema}_transactions`)
    if (naming === 'cryo') expect(transaction?.timestamp).toBe(1_700_002_000)
    else expect(transaction?.receipt_status).toBe(1)
    db.close()
  })
})

describe.skipIf(noPostgres)('in PostgreSQL', { tags: ['long'] }, () => {
  let server: Postgres
  let client: pg.Client

  beforeAll(async () => {
    server = await startPostgres()
    client = new pg.Client({ connectionString: server.url })
    await client.connect()
  })
  afterAll(async () => {
    await client?.end()
    await server?.stop()
  })

  test('creates the tables idempotently, with keys and comments, and holds the widest values', async () => {
    await client.query(schemaText({ sql: 'postgres' }))
    await client.query(schemaText({ sql: 'postgres' }))
    for (const table of TABLES) {
      await client.query(insertOf(table))
      const { rows } = await client.query(`SELECT * FROM "${table.name}"`)
      for (const { name, type } of table.columns) {
        if (type === 'i256') expect(rows[0][name]).toBe(`-${BIG}`)
        if (type === 'decimal') expect(rows[0][name]).toBe(`-0.${'0'.repeat(254)}1`)
      }
      await expect(client.query(insertOf(table))).rejects.toThrow('duplicate key')
      const comments = await client.query(
        `SELECT count(*)::int AS n FROM pg_description WHERE objoid = '"${table.name}"'::regclass`,
      )
      expect(comments.rows[0].n).toBe(table.columns.length + 1)
    }
  })

  test.for(['bigquery', 'cryo'] as const)('reads the tables with the names of %s', async (naming) => {
    await client.query(schemaText({ sql: 'postgres', namespace: { schema: naming === 'cryo' ? 'a' : 'b' } }))
    await client.query(
      schemaText({ sql: 'postgres', naming, namespace: { schema: naming === 'cryo' ? 'a' : 'b' } }),
    )
    for (const view of NAMINGS[naming].views) {
      const { fields } = await client.query(`SELECT * FROM ${NAMINGS[naming].schema}.${view.name}`)
      expect(fields.map(({ name }) => name)).toEqual(namesOf(view))
    }
  })
})
