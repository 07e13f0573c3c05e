import { backticked, type Dialect, escapedLiteral } from '../dialect.ts'

const types = {
  text: 'String',
  int32: 'Int32',
  int64: 'Int64',
  bool: 'Bool',
  time: "DateTime64(3, 'UTC')",
  u256: 'UInt256',
  i256: 'String',
  decimal: 'String',
} as const

/**
 * The key is the sorting key of a ReplacingMergeTree: rows with the same key are merged into the last inserted one.
 * `FINAL` reads them merged at any time.
 */
export const clickhouse: Dialect = {
  title: 'ClickHouse',
  types,
  limits: {
    u256: 'UInt256 holds all 256 bits exactly, but sum() wraps at 2^256.',
    i256: 'Decimal digits as text, because Int256 ends at 2^255 - 1 and a movement can be 2^256 - 1; use toInt256(x) if the value fits.',
    decimal: 'Decimal digits as text, because Decimal has only 76 digits.',
  },
  declare: ({ type, nullable }) => (nullable ? `Nullable(${types[type]})` : types[type]),
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` COMMENT ${escapedLiteral(text)}`,
  tableSuffix: ({ comment, key }) =>
    `\nENGINE = ReplacingMergeTree\nORDER BY (${key})\nCOMMENT ${escapedLiteral(comment)}`,
  defaultSchema: 'default',
  createSchema: (schema) => `CREATE DATABASE IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: (expression) => `toString(${expression})`,
  toSeconds: (expression) => `toUnixTimestamp(${expression})`,
}
