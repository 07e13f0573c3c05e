import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { Column, Table } from '../../core/table/index.ts'
import type { Dialect } from './dialects.ts'

/** Schema and name prefix of the tables in an engine. */
export type TableNamespace = {
  /** Schema, dataset or database. @default the engine's current one */
  readonly schema?: string | undefined
  /** Prefix of every table's name. @default '' */
  readonly prefix?: string | undefined
}

/** Quotes a table's name, with prefix and, if given, schema. */
export function tableIdentifier(
  name: string,
  { quote }: Dialect,
  { schema, prefix = '' }: TableNamespace,
): string {
  const table = quote(`${prefix}${name}`)
  return schema === undefined ? table : `${quote(schema)}.${table}`
}

/** Throws USAGE for names that some engine would not accept unquoted, and for a schema if the engine has none. */
export function checkNamespace({ schema, prefix }: TableNamespace, dialect: Dialect): void {
  for (const [option, name] of Object.entries({ schema, prefix })) {
    if (name === undefined || /^[a-z_][a-z0-9_]{0,39}$/.test(name)) continue
    throw optionError(option, {
      found: name,
      expected: 'lower-case letters, digits and _',
      fix: `Use at most 40 lower-case letters, digits and _, not starting with a digit.`,
    })
  }
  if (schema !== undefined && dialect.createSchema === undefined) {
    throw new ExportError('USAGE', `--schema: ${dialect.title} has no schemas`, {
      fix: 'Use --prefix to distinguish these tables from others.',
    })
  }
}

/** The statement that creates a schema, if one is named. */
export const createSchema = ({ createSchema, quote }: Dialect, schema: string | undefined): string[] =>
  schema === undefined || createSchema === undefined ? [] : [createSchema(quote(schema))]

/** An export table, or a table that a load uses for its records. */
export type NamedTable = Omit<Table, 'name'> & { readonly name: string }

/** The quoted names of a table's columns, as a list. */
export const columnList = ({ columns }: Pick<NamedTable, 'columns'>, { quote }: Dialect): string =>
  columns.map(({ name }) => quote(name)).join(', ')

/** The quoted names of a table's key columns, as a list. */
export const keyList = ({ key }: Pick<NamedTable, 'key'>, { quote }: Dialect): string =>
  key.map(quote).join(', ')

/** SQL condition that the key of a row equals that of another one. */
export const sameKey = (
  { key }: Pick<NamedTable, 'key'>,
  { quote }: Dialect,
  [a, b]: readonly [string, string],
) => key.map((name) => `${a}.${quote(name)} = ${b}.${quote(name)}`).join(' AND ')

/**
 * Returns the statements that create a table if it does not exist, without semicolons: columns in order, the key if the
 * engine supports keys, and comments that describe each column and the limits of its type.
 */
export function createTable(table: NamedTable, dialect: Dialect, namespace: TableNamespace = {}): string[] {
  const { comments, quote, literal } = dialect
  const name = tableIdentifier(table.name, dialect, namespace)
  const key = keyList(table, dialect)
  const constraint = dialect.keyClause?.(key)
  const comment = `${table.about} Key: ${table.key.join(', ')}.`
  const lines = table.columns.map((column, at) => {
    const about = columnComment(column, dialect)
    const declared = `  ${quote(column.name)} ${dialect.declare(column)}${comments === 'inline' ? (dialect.inline?.(about) ?? '') : ''}`
    const comma = at < table.columns.length - 1 || constraint !== undefined ? ',' : ''
    return `${declared}${comma}${comments === 'source' ? ` -- ${about}` : ''}`
  })
  const body = [...lines, ...(constraint === undefined ? [] : [`  ${constraint}`])].join('\n')
  const header = comments === 'source' ? `-- ${comment}\n` : ''
  const create = `${header}CREATE TABLE IF NOT EXISTS ${name} (\n${body}\n)${dialect.tableSuffix({ comment, key })}`
  if (comments !== 'statements') return [create]
  const onColumns = table.columns.map(
    (column) =>
      `COMMENT ON COLUMN ${name}.${quote(column.name)} IS ${literal(columnComment(column, dialect))}`,
  )
  return [create, `COMMENT ON TABLE ${name} IS ${literal(comment)}`, ...onColumns]
}

function columnComment({ about, type }: Column, { limits }: Dialect): string {
  const limit = limits[type]
  return limit === undefined ? about : `${about} ${limit}`
}
