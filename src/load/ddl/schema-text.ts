import { GENERATOR } from '../../core/model/version.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { createTable } from './create-table.ts'
import { createViews } from './create-views.ts'
import type { DialectName } from './dialect.ts'
import { DIALECTS } from './dialects.ts'
import { NAMINGS, type NamingName } from './namings.ts'
import { checkNamespace, type TableNamespace } from './table-namespace.ts'

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
  const schemaName = namespace.schema ?? (sql === 'bigquery' ? dialect.defaultSchema : undefined)
  const schema = schemaName === undefined ? [] : [dialect.createSchema?.(dialect.quote(schemaName)) ?? '']
  const statements = tables.flatMap((table) =>
    createTable(table, dialect, { ...namespace, schema: schemaName }),
  )
  return script(header, [...schema, ...statements])
}

function script(header: readonly string[], statements: readonly string[]): string {
  return `${header.join('\n')}\n\n${statements.map((statement) => `${statement};`).join('\n')}\n`
}
