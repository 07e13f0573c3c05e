import { GENERATOR } from '../../core/model/version.ts'
import { TABLES, type Table } from '../../core/table/index.ts'
import { createTable } from './create-table.ts'
import { createViews } from './create-views.ts'
import type { DialectName } from './dialect.ts'
import { DIALECTS } from './dialects.ts'
import { NAMINGS, type NamingName } from './namings.ts'
import { checkPlace, type Place } from './table-namespace.ts'

export type SchemaTextOptions = {
  readonly sql: DialectName
  /** @default all tables */
  readonly tables?: readonly Table[]
  /** Views with another project's names instead of the tables. */
  readonly naming?: NamingName | undefined
  readonly place?: Place
}

/** The create-table (or create-view) statements of an engine, as a script. Throws USAGE for a place it cannot have. */
export function schemaText({ sql, tables = TABLES, naming, place = {} }: SchemaTextOptions): string {
  const dialect = DIALECTS[sql]
  checkPlace(place, dialect)
  const head = [`-- ${GENERATOR}, schema version 1, for ${dialect.title}.`]
  if (naming !== undefined) {
    const { title } = NAMINGS[naming]
    head.push(`-- Views with the names of ${title} over the tables of walletlake: create those first.`)
    return script(head, createViews(naming, dialect, place))
  }
  const where = place.schema ?? (sql === 'bigquery' ? dialect.defaultSchema : undefined)
  const schema = where === undefined ? [] : [dialect.createSchema?.(dialect.quote(where)) ?? '']
  const statements = tables.flatMap((table) => createTable(table, dialect, { ...place, schema: where }))
  return script(head, [...schema, ...statements])
}

function script(head: readonly string[], statements: readonly string[]): string {
  return `${head.join('\n')}\n\n${statements.map((statement) => `${statement};`).join('\n')}\n`
}
