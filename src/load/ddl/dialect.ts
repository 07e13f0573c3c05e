import type { ColumnType } from '../../core/table/index.ts'

/** The SQL of an engine, as far as creating and loading tables and views needs it. */
export type Dialect = {
  /** The engine's name, for messages and comments. */
  readonly title: string
  /** The engine's type for each column type. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** Limits of the engine's type, or how to compute with it: a sentence for the column's comment. */
  readonly limits: Readonly<Partial<Record<ColumnType, string>>>
  /** Formats type and nullability, to follow a column's name. */
  readonly declare: (column: { name: string; type: ColumnType; nullable: boolean }) => string
  /** Quotes a name as an identifier. */
  readonly quote: (name: string) => string
  /** Formats the statement that makes a column nullable, from quoted names. Absent if the engine has none. */
  readonly dropNotNull?: (table: string, column: string) => string
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
  readonly createSchema?: (schema: string) => string
  readonly createView: string
  /** Casts an expression of any type to text. */
  readonly toText: (expression: string) => string
  /** Converts a `time` column to whole seconds since 1970. */
  readonly toSeconds: (expression: string) => string
}

export const DIALECT_NAMES = [
  'duckdb',
  'postgres',
  'clickhouse',
  'sqlite',
  'bigquery',
  'snowflake',
  'redshift',
  'spark',
] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** Quotes an identifier with backticks. */
export function backticked(name: string): string {
  return `\`${name.replaceAll('`', '\\`')}\``
}

/** Formats a literal for engines that interpret backslashes in literals. */
export function escapedLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** The statement of standard SQL that makes a column nullable. */
export function alterDropNotNull(table: string, column: string): string {
  return `ALTER TABLE ${table} ALTER COLUMN ${column} DROP NOT NULL`
}

/** Declares a column as `type` or `type NOT NULL`. */
export function declareNotNull(types: Dialect['types']): Dialect['declare'] {
  return ({ type, nullable }) => (nullable ? types[type] : `${types[type]} NOT NULL`)
}
