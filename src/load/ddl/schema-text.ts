import { GENERATOR } from '../../core/model/version.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { DIALECTS, type Dialect, type DialectName } from './dialects.ts'
import { NAMINGS, type NamingName, type View, type ViewSource } from './namings.ts'
import { checkNamespace, createSchema, createTable, type TableNamespace, tableIdentifier } from './tables.ts'

export type SchemaTextOptions = {
  readonly sql: DialectName
  /** @default all tables */
  readonly tables?: readonly Table[]
  /** Create views with another project's names instead of the tables. */
  readonly naming?: NamingName | undefined
  readonly namespace?: TableNamespace
}

/**
 * Returns a script that creates the tables (or views) in an engine's SQL.
 *
 * @throws ExportError USAGE for an invalid schema or prefix
 */
export function schemaText({ sql, tables = TABLES, naming, namespace = {} }: SchemaTextOptions): string {
  const dialect = DIALECTS[sql]
  checkNamespace(namespace, dialect)
  const header = [`-- ${GENERATOR}, schema version 1, for ${dialect.title}.`]
  if (naming !== undefined) {
    const { title } = NAMINGS[naming]
    header.push(`-- Views with the names of ${title} over the tables of walletlake: create those first.`)
    return script(header, createViews(naming, dialect, namespace))
  }
  const schema = namespace.schema ?? (sql === 'bigquery' ? dialect.defaultSchema : undefined)
  const statements = tables.flatMap((table) => createTable(table, dialect, { ...namespace, schema }))
  return script(header, [...createSchema(dialect, schema), ...statements])
}

function script(header: readonly string[], statements: readonly string[]): string {
  return `${header.join('\n')}\n\n${statements.map((statement) => `${statement};`).join('\n')}\n`
}

/**
 * Returns the statements that create views with another project's table and column names. The views are in a schema
 * named after that project, or have its name as a prefix if the engine has no schemas. Columns that an export does not
 * have are left out and listed in a comment.
 */
function createViews(naming: NamingName, dialect: Dialect, namespace: TableNamespace): string[] {
  const { schema, views } = NAMINGS[naming]
  const tables = { ...namespace, schema: namespace.schema ?? dialect.defaultSchema }
  const target = dialect.createSchema === undefined ? { prefix: `${schema}_` } : { schema }
  const createView = ({ name, sources, absent }: View) => {
    const selects = sources.map((source) => select(source, dialect, tables))
    const missing = absent.length === 0 ? '' : `-- not in walletlake: ${absent.join(', ')}\n`
    return `${missing}${dialect.createView} ${tableIdentifier(name, dialect, target)} AS\n${selects.join('\nUNION ALL\n')}`
  }
  return [...createSchema(dialect, schema), ...views.map(createView)]
}

function select({ table, columns }: ViewSource, dialect: Dialect, tables: TableNamespace): string {
  const items = columns.map(([name, from]) => {
    const expression = typeof from === 'string' ? dialect.quote(from) : from(dialect)
    return expression === dialect.quote(name)
      ? `  ${expression}`
      : `  ${expression} AS ${dialect.quote(name)}`
  })
  return `SELECT\n${items.join(',\n')}\nFROM ${tableIdentifier(table, dialect, tables)}`
}
