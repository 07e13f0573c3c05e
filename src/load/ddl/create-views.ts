import type { Dialect } from './dialect.ts'
import { NAMINGS, type NamingName, type View, type ViewSource } from './namings.ts'
import { type TableNamespace, tableIdentifier } from './table-namespace.ts'

/**
 * Returns the statements that create views with another project's table and column names. The views are in a schema
 * named after that project, or have its name as a prefix if the engine has no schemas. Columns that an export does not
 * have are left out and listed in a comment.
 */
export function createViews(naming: NamingName, dialect: Dialect, namespace: TableNamespace = {}): string[] {
  const { schema, views } = NAMINGS[naming]
  const tables = { ...namespace, schema: namespace.schema ?? dialect.defaultSchema }
  const target = dialect.createSchema === undefined ? { prefix: `${schema}_` } : { schema }
  const createSchema = dialect.createSchema === undefined ? [] : [dialect.createSchema(dialect.quote(schema))]
  return [...createSchema, ...views.map((view) => createView(view, dialect, { tables, target }))]
}

function createView(
  view: View,
  dialect: Dialect,
  namespaces: { tables: TableNamespace; target: TableNamespace },
): string {
  const name = tableIdentifier(view.name, dialect, namespaces.target)
  const selects = view.sources.map((source) => select(source, dialect, namespaces.tables))
  const missing = view.absent.length === 0 ? '' : `-- not in walletlake: ${view.absent.join(', ')}\n`
  return `${missing}${dialect.createView} ${name} AS\n${selects.join('\nUNION ALL\n')}`
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
