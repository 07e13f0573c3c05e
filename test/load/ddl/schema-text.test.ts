import { describe, expect, test } from 'vitest'
import { type ColumnType, TABLES } from '../../../src/core/table/index.ts'
import { DIALECT_NAMES, type DialectName } from '../../../src/load/ddl/dialects.ts'
import { NAMING_NAMES } from '../../../src/load/ddl/namings.ts'
import { schemaText } from '../../../src/load/ddl/schema-text.ts'
import { BIGQUERY_RESERVED, REDSHIFT_RESERVED, SNOWFLAKE_RESERVED } from './reserved-words.ts'
import { columnsOf, type Quoting, scanSql, statementsOf } from './scan-statements.ts'

const QUOTING: Record<DialectName, Quoting> = {
  duckdb: { name: '"', backslash: false },
  postgres: { name: '"', backslash: false },
  sqlite: { name: '"', backslash: false },
  redshift: { name: '"', backslash: false },
  snowflake: { name: '"', backslash: true },
  clickhouse: { name: '`', backslash: true },
  bigquery: { name: '`', backslash: true },
  spark: { name: '`', backslash: true },
}

/** The exact types for 256-bit integers and decimals, from each engine's documentation. */
const EXACT: Record<DialectName, Record<'u256' | 'i256' | 'decimal', RegExp>> = {
  duckdb: { u256: /^BIGNUM/, i256: /^BIGNUM/, decimal: /^VARCHAR/ },
  postgres: { u256: /^numeric \( 78 , 0 \)/, i256: /^numeric \( 78 , 0 \)/, decimal: /^numeric(?! \()/ },
  sqlite: { u256: /^TEXT/, i256: /^TEXT/, decimal: /^TEXT/ },
  redshift: {
    u256: /^VARCHAR \( 78 \)/,
    i256: /^VARCHAR \( 79 \)/,
    decimal: /^VARCHAR \( \d{4} \)/,
  },
  snowflake: { u256: /^VARCHAR \( 78 \)/, i256: /^VARCHAR \( 79 \)/, decimal: /^VARCHAR(?! \()/ },
  clickhouse: {
    u256: /^(?:UInt256|Nullable \( UInt256 \))/,
    i256: /^String/,
    decimal: /^Nullable \( String/,
  },
  bigquery: { u256: /^STRING/, i256: /^STRING/, decimal: /^STRING/ },
  spark: { u256: /^STRING/, i256: /^STRING/, decimal: /^STRING/ },
}

describe.for([...DIALECT_NAMES])('the SQL for %s', (sql) => {
  const creates = statementsOf(schemaText({ sql }), QUOTING[sql]).filter(
    (statement) => statement[0]?.text === 'CREATE' && statement[1]?.text === 'TABLE',
  )

  test('creates every table with every column once and in order', () => {
    expect(creates).toHaveLength(TABLES.length)
    for (const [at, table] of TABLES.entries()) {
      const names = [...columnsOf(creates[at] ?? []).keys()]
      expect(names.filter((name) => name !== 'PRIMARY')).toEqual(table.columns.map(({ name }) => name))
    }
  })

  test('declares 256-bit integers with a type that loses no digit', () => {
    for (const [at, table] of TABLES.entries()) {
      const declared = columnsOf(creates[at] ?? [])
      for (const { name, type } of table.columns.filter((column) => isExact(column.type))) {
        expect(declared.get(name)).toMatch(EXACT[sql][type as 'u256'])
      }
    }
  })

  test('declares exactly the nullable columns of the contract as nullable', () => {
    for (const [at, table] of TABLES.entries()) {
      const declared = columnsOf(creates[at] ?? [])
      for (const { name, nullable } of table.columns) {
        const isRequired =
          sql === 'clickhouse'
            ? !/^Nullable/.test(declared.get(name) ?? '')
            : /NOT NULL/.test(declared.get(name) ?? '')
        expect(isRequired).toBe(!nullable)
      }
    }
  })

  test('comments every column, and every table with its key', () => {
    const text = schemaText({ sql })
    const comments = scanSql(text, QUOTING[sql])
      .filter(({ kind }) => kind === 'text' || kind === 'comment')
      .map((piece) => piece.text.replaceAll("\\'", "'").replaceAll("''", "'"))
      .join('\n')
    for (const { about, key, columns } of TABLES) {
      expect(comments).toContain(`${about} Key: ${key.join(', ')}.`)
      for (const column of columns) expect(comments).toContain(column.about)
    }
    expect(comments).toMatch(/256|digits/)
  })

  test('balances quotes and brackets in tables and views', () => {
    for (const naming of NAMING_NAMES) {
      const views = statementsOf(schemaText({ sql, naming, namespace: { prefix: 'w_' } }), QUOTING[sql])
      expect(views.length).toBeGreaterThanOrEqual(3)
    }
  })
})

describe.for([
  { sql: 'bigquery' as const, reserved: BIGQUERY_RESERVED },
  { sql: 'snowflake' as const, reserved: SNOWFLAKE_RESERVED },
  { sql: 'redshift' as const, reserved: REDSHIFT_RESERVED },
])('the names of $sql', ({ sql, reserved }) => {
  test('contain no unquoted reserved word', () => {
    for (const naming of [undefined, ...NAMING_NAMES]) {
      const words = scanSql(schemaText({ sql, naming }), QUOTING[sql]).filter(({ kind }) => kind === 'word')
      const names = words.map(({ text }) => text).filter((word) => word === word.toLowerCase())
      expect(names.filter((name) => reserved.has(name))).toEqual([])
    }
  })
})

function isExact(type: ColumnType): boolean {
  return type === 'u256' || type === 'i256' || type === 'decimal'
}

describe('schema and prefix', () => {
  test('apply to the selected tables only', () => {
    const tables = TABLES.filter(({ name }) => name === 'ledger')
    const text = schemaText({ sql: 'postgres', tables, namespace: { schema: 'lake', prefix: 'w_' } })
    expect(text).toContain('CREATE SCHEMA IF NOT EXISTS "lake";')
    expect(text).toContain('CREATE TABLE IF NOT EXISTS "lake"."w_ledger" (')
    expect(text).not.toContain('transactions" (')
  })

  test.for([
    { sql: 'sqlite' as const, place: { schema: 'lake' }, says: 'SQLite has no schemas' },
    { sql: 'postgres' as const, place: { schema: 'a"b' }, says: '--schema' },
    { sql: 'duckdb' as const, place: { prefix: '1x' }, says: '--prefix' },
  ])('$place is rejected for $sql', ({ sql, place: namespace, says }) => {
    expect(() => schemaText({ sql, namespace })).toThrow(says)
  })

  test('qualify the tables of a view, so that no view reads itself', () => {
    for (const sql of DIALECT_NAMES.filter((name) => name !== 'sqlite')) {
      const text = schemaText({ sql, naming: 'bigquery' })
      const from = [...text.matchAll(/FROM (\S+)/g)].map(([, table = '']) => table.replaceAll(/["`;]/g, ''))
      expect(from.every((table) => /^\w+\.\w+$/.test(table) && !table.startsWith('crypto_ethereum'))).toBe(
        true,
      )
    }
  })
})
