import { quoteIdentifier, quoteLiteral } from '../../../core/platform/sql.ts'
import { type Dialect, declareNotNull } from '../dialect.ts'

const types = {
  text: 'TEXT',
  int32: 'INTEGER',
  int64: 'INTEGER',
  bool: 'INTEGER',
  time: 'TEXT',
  u256: 'TEXT',
  i256: 'TEXT',
  decimal: 'TEXT',
} as const

const BIG_INTEGER_LIMIT =
  'Decimal digits as text, because INTEGER has 64 bits and NUMERIC rounds larger values to REAL.'

/**
 * STRICT tables (SQLite 3.37 or later) do not convert digits in TEXT columns to numbers. SQL comments remain readable
 * in sqlite_schema, which stores the statement.
 */
export const sqlite: Dialect = {
  title: 'SQLite',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal: BIG_INTEGER_LIMIT,
    bool: '1 for true, 0 for false.',
    time: 'Text such as 2023-11-14T22:46:40.000Z, which sorts by time and works with datetime().',
  },
  declare: declareNotNull(types),
  quote: quoteIdentifier,
  literal: quoteLiteral,
  comments: 'source',
  keyClause: (columns) => `PRIMARY KEY (${columns})`,
  tableSuffix: () => ' STRICT',
  createView: 'CREATE VIEW IF NOT EXISTS',
  toText: (expression) => `CAST(${expression} AS TEXT)`,
  toSeconds: (expression) => `CAST(strftime('%s', ${expression}) AS INTEGER)`,
}
