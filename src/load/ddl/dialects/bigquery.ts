import { backticked, type Dialect, declareNotNull, escapedLiteral } from '../dialect.ts'

const types = {
  text: 'STRING',
  int32: 'INT64',
  int64: 'INT64',
  bool: 'BOOL',
  time: 'TIMESTAMP',
  u256: 'STRING',
  i256: 'STRING',
  decimal: 'STRING',
} as const

const BIG_INTEGER_LIMIT =
  'Decimal digits as text, because BIGNUMERIC ends at about 5.8e38; SAFE_CAST(x AS BIGNUMERIC) returns null for larger values.'

/** Keys are not enforced and only help the planner. Views must name the dataset of their tables. */
export const bigquery: Dialect = {
  title: 'BigQuery',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal: 'Decimal digits as text, because BIGNUMERIC has only 38 digits after the point.',
  },
  declare: declareNotNull(types),
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` OPTIONS (description = ${escapedLiteral(text)})`,
  keyClause: (columns) => `PRIMARY KEY (${columns}) NOT ENFORCED`,
  tableSuffix: ({ comment }) =>
    `\nCLUSTER BY chain_id, block_number\nOPTIONS (description = ${escapedLiteral(comment)})`,
  defaultSchema: 'walletlake',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS STRING)`,
  toSeconds: (expression) => `UNIX_SECONDS(${expression})`,
}
