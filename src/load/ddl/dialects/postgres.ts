import { quoteIdentifier, quoteLiteral } from '../../../core/platform/sql.ts'
import { alterDropNotNull, type Dialect, declareNotNull } from '../dialect.ts'

const types = {
  text: 'text',
  int32: 'integer',
  int64: 'bigint',
  bool: 'boolean',
  time: 'timestamp with time zone',
  u256: 'numeric(78,0)',
  i256: 'numeric(78,0)',
  decimal: 'numeric',
} as const

/** All values are stored exactly, except U+0000: PostgreSQL text cannot contain it, so loads replace it by U+FFFD. */
export const postgres: Dialect = {
  title: 'PostgreSQL',
  types,
  limits: {
    u256: 'NUMERIC(78,0) holds all 256 bits exactly.',
    i256: 'NUMERIC(78,0) holds all 256 bits and the sign exactly.',
    decimal: 'NUMERIC without scale: every digit is kept.',
  },
  declare: declareNotNull(types),
  dropNotNull: alterDropNotNull,
  quote: quoteIdentifier,
  literal: quoteLiteral,
  comments: 'statements',
  keyClause: (columns) => `PRIMARY KEY (${columns})`,
  tableSuffix: () => '',
  defaultSchema: 'public',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS text)`,
  toSeconds: (expression) => `CAST(floor(extract(epoch FROM ${expression})) AS bigint)`,
}
