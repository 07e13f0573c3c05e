import { backticked, type Dialect, declareNotNull, escapedLiteral } from '../dialect.ts'

const types = {
  text: 'STRING',
  int32: 'INT',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMP',
  u256: 'STRING',
  i256: 'STRING',
  decimal: 'STRING',
} as const

const BIG_INTEGER_LIMIT =
  'Decimal digits as text, because DECIMAL has only 38 digits; TRY_CAST(x AS DECIMAL(38,0)) returns null for larger values.'

/** Spark has no key constraints, so the key is recorded in the table properties. */
export const spark: Dialect = {
  title: 'Spark SQL',
  types,
  limits: {
    u256: BIG_INTEGER_LIMIT,
    i256: BIG_INTEGER_LIMIT,
    decimal: 'Decimal digits as text, because DECIMAL has only 38 digits.',
  },
  declare: declareNotNull(types),
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` COMMENT ${escapedLiteral(text)}`,
  tableSuffix: ({ comment, key }) => {
    const names = key.replaceAll('`', '')
    return `\nUSING PARQUET\nCOMMENT ${escapedLiteral(comment)}\nTBLPROPERTIES ('walletlake.key' = ${escapedLiteral(names)})`
  },
  defaultSchema: 'default',
  createSchema: (schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `CAST(${expression} AS STRING)`,
  toSeconds: (expression) => `unix_timestamp(${expression})`,
}
