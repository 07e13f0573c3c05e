import type { Column, Table } from '../../core/table/index.ts'
import type { Dialect } from './dialect.ts'
import { type TableNamespace, tableIdentifier } from './table-namespace.ts'

/** An export table, or a table that a load uses for its records. */
export type NamedTable = Omit<Table, 'name'> & { readonly name: string }

/**
 * Returns the statements that create a table if it does not exist, without semicolons: columns in order, the key if the
 * engine supports keys, and comments that describe each column and the limits of its type.
 */
export function createTable(table: NamedTable, dialect: Dialect, namespace: TableNamespace = {}): string[] {
  const name = tableIdentifier(table.name, dialect, namespace)
  const key = table.key.map(dialect.quote).join(', ')
  const lines = table.columns.map((column) => columnLine(column, dialect))
  const constraint = dialect.keyClause?.(key)
  const suffix = dialect.tableSuffix({ comment: tableComment(table), key })
  const body = joinLines(lines, { constraint, source: dialect.comments === 'source' })
  const header = dialect.comments === 'source' ? `-- ${tableComment(table)}\n` : ''
  const create = `${header}CREATE TABLE IF NOT EXISTS ${name} (\n${body}\n)${suffix}`
  return dialect.comments === 'statements' ? [create, ...commentStatements(table, name, dialect)] : [create]
}

type ColumnLine = { declared: string; comment: string }

function columnLine(column: Column, dialect: Dialect): ColumnLine {
  const comment = columnComment(column, dialect)
  const inline = dialect.comments === 'inline' ? (dialect.inline?.(comment) ?? '') : ''
  return { declared: `  ${dialect.quote(column.name)} ${dialect.declare(column)}${inline}`, comment }
}

function joinLines(
  lines: readonly ColumnLine[],
  { constraint, source }: { constraint: string | undefined; source: boolean },
): string {
  const all = constraint === undefined ? lines : [...lines, { declared: `  ${constraint}`, comment: '' }]
  return all
    .map(({ declared, comment }, at) => {
      const comma = at < all.length - 1 ? ',' : ''
      return source && comment !== '' ? `${declared}${comma} -- ${comment}` : `${declared}${comma}`
    })
    .join('\n')
}

function commentStatements(table: NamedTable, name: string, dialect: Dialect): string[] {
  const onTable = `COMMENT ON TABLE ${name} IS ${dialect.literal(tableComment(table))}`
  const onColumns = table.columns.map((column) => {
    const text = dialect.literal(columnComment(column, dialect))
    return `COMMENT ON COLUMN ${name}.${dialect.quote(column.name)} IS ${text}`
  })
  return [onTable, ...onColumns]
}

function tableComment({ about, key }: NamedTable): string {
  return `${about} Key: ${key.join(', ')}.`
}

function columnComment({ about, type }: Column, { limits }: Dialect): string {
  const limit = limits[type]
  return limit === undefined ? about : `${about} ${limit}`
}
