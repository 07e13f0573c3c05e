import { quoteIdentifier, quoteLiteral } from '../../../core/platform/sql.ts'
import type { ColumnType } from '../../../core/table/index.ts'
import type { Dialect } from '../dialect.ts'

const types = {
  text: 'VARCHAR(65535)',
  int32: 'INTEGER',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMPTZ',
  u256: 'VARCHAR(78)',
  i256: 'VARCHAR(79)',
  decimal: 'VARCHAR(2048)',
} as const

const BIG_INTEGER_LIMIT =
  'Decimal digits as text, because DECIMAL has only 38 digits; casting a larger value fails.'

/** Keys are not enforced and only help the planner. Text is limited to 65,535 bytes. */
export const redshift: Dialect = {
  title: 'Amazon Redshift',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal: 'Decimal digits as text, because DECIMAL has only 38 digits.',
  },
  declare: ({ name, type, nullable }) => `${typeOf(name, type)}${nullable ? '' : ' NOT NULL'}`,
  quote: quoteIdentifier,
  literal: quoteLiteral,
  comments: 'statements',
  keyClause: (columns) => `PRIMARY KEY (${columns})`,
  tableSuffix: () => ' SORTKEY (block_number)',
  defaultSchema: 'public',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS VARCHAR)`,
  toSeconds: (expression) => `CAST(EXTRACT(EPOCH FROM ${expression}) AS BIGINT)`,
}

/** Declares short text columns as VARCHAR(256), because queries allocate memory by the declared length. */
function typeOf(name: string, type: ColumnType): string {
  return type === 'text' && SHORT_TEXT_COLUMN.test(name) ? 'VARCHAR(256)' : types[type]
}

const SHORT_TEXT_COLUMN = /(?:_hash|_address|_id|_type|_currency|^status|^direction|^source)$/
