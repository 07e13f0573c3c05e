import type { ColumnType } from '../../core/table/index.ts'

/** An engine's own SQL, as far as tables and views of ours need it. */
export type Dialect = {
  /** As people write the engine's name. */
  readonly title: string
  /** The engine's type for each of ours. */
  readonly types: Readonly<Record<ColumnType, string>>
  /** What the engine's type loses, or how to compute with it: a sentence for the column's comment. */
  readonly limits: Readonly<Partial<Record<ColumnType, string>>>
  /** Type and nullability, as they stand behind a column's name. */
  readonly declare: (column: { name: string; type: ColumnType; nullable: boolean }) => string
  /** A name as an identifier. */
  readonly quote: (name: string) => string
  /** Text as a literal. */
  readonly literal: (text: string) => string
  /** How comments are said: by statements of their own, behind the column, or as SQL comments only. */
  readonly comments: 'statements' | 'inline' | 'source'
  /** What introduces a comment behind a column; only where comments are inline. */
  readonly inline?: (text: string) => string
  /** A table constraint that names the key; absent: the engine has none, or one that costs too much. */
  readonly keyClause?: (columns: string) => string
  /** What follows the closing parenthesis. */
  readonly tableSuffix: (table: { comment: string; key: string }) => string
  /** Where unqualified tables are when a view of another schema has to name them; absent: no schemas. */
  readonly defaultSchema?: string
  readonly createSchema?: (schema: string) => string
  readonly createView: string
  /** An expression of any type as text. */
  readonly toText: (expression: string) => string
  /** A `time` column as whole seconds since 1970. */
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

/** `` `name` `` for engines whose identifiers stand in backticks. */
export function backticked(name: string): string {
  return `\`${name.replaceAll('`', '\\`')}\``
}

/** `'text'` for engines that read backslashes in literals. */
export function escapedLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** `type` or `type NOT NULL`. */
export function declareNotNull(types: Dialect['types']): Dialect['declare'] {
  return ({ type, nullable }) => (nullable ? types[type] : `${types[type]} NOT NULL`)
}
