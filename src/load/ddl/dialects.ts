import { quoteIdentifier, quoteLiteral } from '../../core/platform/sql.ts'
import type { Column, ColumnType } from '../../core/table/index.ts'
import { DUCKDB_TYPES } from '../../formats/column-sql.ts'

/** The SQL of an engine, as far as creating and loading tables and views needs it. */
export type Dialect = {
  /** The engine's name, for messages and comments. */
  readonly title: string
  /** The engine's type for each column type. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** Limits of the engine's type, or how to compute with it: a sentence for the column's comment. */
  readonly limits: Readonly<Partial<Record<ColumnType, string>>>
  /** Formats type and nullability, to follow a column's name. */
  readonly declare: (column: Pick<Column, 'name' | 'type' | 'nullable'>) => string
  /** Quotes a name as an identifier. */
  readonly quote: (name: string) => string
  /** Formats the statement that makes a column nullable, from quoted names. Absent if the engine has none. */
  readonly dropNotNull?: (table: string, column: string) => string
  /** The type that an existing column of another type is changed to before a load. @default no type is changed */
  readonly retype?: (column: Column, existing: string) => string | undefined
  /** Formats text as a literal. */
  readonly literal: (text: string) => string
  /**
   * How tables and columns are commented: with COMMENT statements, inline in the declaration, or only in SQL comments.
   */
  readonly comments: 'statements' | 'inline' | 'source'
  /** Formats a column's inline comment; only for `comments: 'inline'`. */
  readonly inline?: (text: string) => string
  /** Formats the constraint that declares the key. Absent if the engine has none, or one that costs too much. */
  readonly keyClause?: (columns: string) => string
  /** Formats the text after the closing parenthesis. */
  readonly tableSuffix: (table: { comment: string; key: string }) => string
  /** Schema of unqualified tables, for views in another schema. Absent if the engine has no schemas. */
  readonly defaultSchema?: string
  readonly createSchema?: ((schema: string) => string) | undefined
  readonly createView: string
  /** Casts an expression of any type to text. */
  readonly toText: (expression: string) => string
  /** Converts a `time` column to whole seconds since 1970. */
  readonly toSeconds: (expression: string) => string
}

/** What most engines have in common; a dialect overrides the rest. */
const COMMON = {
  quote: quoteIdentifier,
  literal: quoteLiteral,
  tableSuffix: () => '',
  createSchema: (schema: string) => `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  createView: 'CREATE OR REPLACE VIEW',
  toText: castTo('VARCHAR'),
}

function castTo(type: string) {
  return (expression: string) => `CAST(${expression} AS ${type})`
}

type Common = keyof typeof COMMON | 'declare'

/** Declares columns as `type` or `type NOT NULL`, unless the dialect has another way. */
function dialect(own: Omit<Dialect, Common> & Partial<Pick<Dialect, Common>>): Dialect {
  const declare: Dialect['declare'] = ({ type, nullable }) =>
    `${own.types[type]}${nullable ? '' : ' NOT NULL'}`
  return { ...COMMON, declare, ...own }
}

const primaryKey = (columns: string) => `PRIMARY KEY (${columns})`

const alterDropNotNull = (table: string, column: string) =>
  `ALTER TABLE ${table} ALTER COLUMN ${column} DROP NOT NULL`

/** Quotes an identifier with backticks. */
const backticked = (name: string) => `\`${name.replaceAll('`', '\\`')}\``

/** Formats a literal for engines that interpret backslashes in literals. */
const escapedLiteral = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Comments on the engine's types for numbers of 256 bits and for decimals. */
const numberLimits = (integers: string, decimals: string) => ({
  u256: integers,
  i256: integers,
  decimal: decimals,
})

const NO_MORE_THAN_38 = 'Decimal digits as text, because DECIMAL has only 38 digits.'

/**
 * There is no PRIMARY KEY, because its index must fit into memory and becomes larger than the rows. Loads ensure that
 * keys are unique.
 */
const duckdb = dialect({
  title: 'DuckDB',
  types: { ...DUCKDB_TYPES, u256: 'BIGNUM', i256: 'BIGNUM' },
  limits: numberLimits(
    'BIGNUM has any number of digits and sorts, compares and sums exactly; avg, * and / round.',
    'Decimal digits as text, because DECIMAL has only 38 digits and DOUBLE rounds. Text does not sort like numbers.',
  ),
  dropNotNull: alterDropNotNull,
  comments: 'statements',
  retype: ({ type }, existing) =>
    existing === 'VARCHAR' && (type === 'u256' || type === 'i256') ? 'BIGNUM' : undefined,
  defaultSchema: 'main',
  toSeconds: (expression) => `epoch_ms(${expression}) // 1000`,
})

/** All values are stored exactly, except U+0000: PostgreSQL text cannot contain it, so loads replace it by U+FFFD. */
const postgres = dialect({
  title: 'PostgreSQL',
  types: {
    text: 'text',
    int32: 'integer',
    int64: 'bigint',
    bool: 'boolean',
    time: 'timestamp with time zone',
    u256: 'numeric(78,0)',
    i256: 'numeric(78,0)',
    decimal: 'numeric',
  },
  limits: {
    u256: 'NUMERIC(78,0) holds all 256 bits exactly.',
    i256: 'NUMERIC(78,0) holds all 256 bits and the sign exactly.',
    decimal: 'NUMERIC without scale: every digit is kept.',
  },
  dropNotNull: alterDropNotNull,
  comments: 'statements',
  keyClause: primaryKey,
  defaultSchema: 'public',
  toText: castTo('text'),
  toSeconds: (expression) => `CAST(floor(extract(epoch FROM ${expression})) AS bigint)`,
})

const CLICKHOUSE_TYPES = {
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
const clickhouse = dialect({
  title: 'ClickHouse',
  types: CLICKHOUSE_TYPES,
  limits: {
    u256: 'UInt256 holds all 256 bits exactly, but sum() wraps at 2^256.',
    i256: 'Decimal digits as text, because Int256 ends at 2^255 - 1 and a movement can be 2^256 - 1; use toInt256(x) if the value fits.',
    decimal: 'Decimal digits as text, because Decimal has only 76 digits.',
  },
  declare: ({ type, nullable }) =>
    nullable ? `Nullable(${CLICKHOUSE_TYPES[type]})` : CLICKHOUSE_TYPES[type],
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` COMMENT ${escapedLiteral(text)}`,
  tableSuffix: ({ comment, key }) =>
    `\nENGINE = ReplacingMergeTree\nORDER BY (${key})\nCOMMENT ${escapedLiteral(comment)}`,
  defaultSchema: 'default',
  createSchema: (schema) => `CREATE DATABASE IF NOT EXISTS ${schema}`,
  toText: (expression) => `toString(${expression})`,
  toSeconds: (expression) => `toUnixTimestamp(${expression})`,
})

/**
 * STRICT tables (SQLite 3.37 or later) do not convert digits in TEXT columns to numbers. SQL comments remain readable
 * in sqlite_schema, which stores the statement.
 */
const sqlite = dialect({
  title: 'SQLite',
  types: {
    text: 'TEXT',
    int32: 'INTEGER',
    int64: 'INTEGER',
    bool: 'INTEGER',
    time: 'TEXT',
    u256: 'TEXT',
    i256: 'TEXT',
    decimal: 'TEXT',
  },
  limits: {
    ...numberLimits(
      'Decimal digits as text, because INTEGER has 64 bits and NUMERIC rounds larger values to REAL.',
      'Decimal digits as text, because INTEGER has 64 bits and NUMERIC rounds larger values to REAL.',
    ),
    bool: '1 for true, 0 for false.',
    time: 'Text such as 2023-11-14T22:46:40.000Z, which sorts by time and works with datetime().',
  },
  comments: 'source',
  keyClause: primaryKey,
  tableSuffix: () => ' STRICT',
  createSchema: undefined,
  createView: 'CREATE VIEW IF NOT EXISTS',
  toText: castTo('TEXT'),
  toSeconds: (expression) => `CAST(strftime('%s', ${expression}) AS INTEGER)`,
})

/** Keys are not enforced and only help the planner. Views must name the dataset of their tables. */
const bigquery = dialect({
  title: 'BigQuery',
  types: {
    text: 'STRING',
    int32: 'INT64',
    int64: 'INT64',
    bool: 'BOOL',
    time: 'TIMESTAMP',
    u256: 'STRING',
    i256: 'STRING',
    decimal: 'STRING',
  },
  limits: numberLimits(
    'Decimal digits as text, because BIGNUMERIC ends at about 5.8e38; SAFE_CAST(x AS BIGNUMERIC) returns null for larger values.',
    'Decimal digits as text, because BIGNUMERIC has only 38 digits after the point.',
  ),
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` OPTIONS (description = ${escapedLiteral(text)})`,
  keyClause: (columns) => `PRIMARY KEY (${columns}) NOT ENFORCED`,
  tableSuffix: ({ comment }) =>
    `\nCLUSTER BY chain_id, block_number\nOPTIONS (description = ${escapedLiteral(comment)})`,
  defaultSchema: 'walletlake',
  toText: castTo('STRING'),
  toSeconds: (expression) => `UNIX_SECONDS(${expression})`,
})

/** Names are unquoted where possible, so that they match in any letter case. Keys are not enforced. */
const snowflake = dialect({
  title: 'Snowflake',
  types: {
    text: 'VARCHAR',
    int32: 'NUMBER(10,0)',
    int64: 'NUMBER(19,0)',
    bool: 'BOOLEAN',
    time: 'TIMESTAMP_NTZ(3)',
    u256: 'VARCHAR(78)',
    i256: 'VARCHAR(79)',
    decimal: 'VARCHAR',
  },
  limits: {
    ...numberLimits(
      'Decimal digits as text, because NUMBER has only 38 digits; TRY_TO_NUMBER(x, 38, 0) returns null for larger values.',
      'Decimal digits as text, because NUMBER has only 38 digits.',
    ),
    time: 'UTC without a time zone: set the time zone of the session to UTC before loading.',
  },
  quote: (name) =>
    RESERVED.has(name) || !PLAIN_IDENTIFIER.test(name) ? quoteIdentifier(name.toUpperCase()) : name,
  literal,
  comments: 'inline',
  inline: (text) => ` COMMENT ${literal(text)}`,
  keyClause: primaryKey,
  tableSuffix: ({ comment }) => `\nCOMMENT = ${literal(comment)}`,
  defaultSchema: 'public',
  toText: (expression) => `TO_VARCHAR(${expression})`,
  toSeconds: (expression) => `DATE_PART(EPOCH_SECOND, ${expression})`,
})

/** Formats a literal. Snowflake interprets backslashes in literals. */
function literal(text: string): string {
  return quoteLiteral(text.replaceAll('\\', '\\\\'))
}

const PLAIN_IDENTIFIER = /^[a-z_][a-z0-9_]*$/

/** Reserved words of Snowflake (its documentation, "Reserved & limited keywords") that must be quoted as names. */
const RESERVED: ReadonlySet<string> = new Set(
  `account all alter and any as between by case cast check column connect connection constraint create cross
  current current_date current_time current_timestamp current_user database delete distinct drop else exists
  false following for from full grant group gscluster having ilike in increment inner insert intersect into is
  issue join lateral left like localtime localtimestamp minus natural not null of on or order organization
  qualify regexp revoke right rlike row rows sample schema select set some start table tablesample then to
  trigger true try_cast union unique update using values view when whenever where with`.split(/\s+/),
)

const REDSHIFT_TYPES = {
  text: 'VARCHAR(65535)',
  int32: 'INTEGER',
  int64: 'BIGINT',
  bool: 'BOOLEAN',
  time: 'TIMESTAMPTZ',
  u256: 'VARCHAR(78)',
  i256: 'VARCHAR(79)',
  decimal: 'VARCHAR(2048)',
} as const

/** Keys are not enforced and only help the planner. Text is limited to 65,535 bytes. */
const redshift = dialect({
  title: 'Amazon Redshift',
  types: REDSHIFT_TYPES,
  limits: numberLimits(
    'Decimal digits as text, because DECIMAL has only 38 digits; casting a larger value fails.',
    NO_MORE_THAN_38,
  ),
  declare: ({ name, type, nullable }) => `${typeOf(name, type)}${nullable ? '' : ' NOT NULL'}`,
  comments: 'statements',
  keyClause: primaryKey,
  tableSuffix: () => ' SORTKEY (block_number)',
  defaultSchema: 'public',
  toSeconds: (expression) => `CAST(EXTRACT(EPOCH FROM ${expression}) AS BIGINT)`,
})

/** Declares short text columns as VARCHAR(256), because queries allocate memory by the declared length. */
function typeOf(name: string, type: ColumnType): string {
  return type === 'text' && SHORT_TEXT_COLUMN.test(name) ? 'VARCHAR(256)' : REDSHIFT_TYPES[type]
}

const SHORT_TEXT_COLUMN = /(?:_hash|_address|_id|_type|_currency|^status|^direction|^source)$/

/** Spark has no key constraints, so the key is recorded in the table properties. */
const spark = dialect({
  title: 'Spark SQL',
  types: {
    text: 'STRING',
    int32: 'INT',
    int64: 'BIGINT',
    bool: 'BOOLEAN',
    time: 'TIMESTAMP',
    u256: 'STRING',
    i256: 'STRING',
    decimal: 'STRING',
  },
  limits: numberLimits(
    'Decimal digits as text, because DECIMAL has only 38 digits; TRY_CAST(x AS DECIMAL(38,0)) returns null for larger values.',
    NO_MORE_THAN_38,
  ),
  quote: backticked,
  literal: escapedLiteral,
  comments: 'inline',
  inline: (text) => ` COMMENT ${escapedLiteral(text)}`,
  tableSuffix: ({ comment, key }) => {
    const names = key.replaceAll('`', '')
    return `\nUSING PARQUET\nCOMMENT ${escapedLiteral(comment)}\nTBLPROPERTIES ('walletlake.key' = ${escapedLiteral(names)})`
  },
  defaultSchema: 'default',
  toText: castTo('STRING'),
  toSeconds: (expression) => `unix_timestamp(${expression})`,
})

/** All dialects, by the value of `--sql`. */
export const DIALECTS = {
  duckdb,
  postgres,
  clickhouse,
  sqlite,
  bigquery,
  snowflake,
  redshift,
  spark,
} as const

export type DialectName = keyof typeof DIALECTS
export const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[]
