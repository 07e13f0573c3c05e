import { ExportError } from '../core/model/errors.ts'
import type { NamedTable } from './ddl/create-table.ts'
import type { Statements } from './target.ts'

export type FoundColumn = { readonly name: string; readonly declared: string }

/**
 * Compares the columns of a table in the target with those of this version. Columns that users added are left alone.
 *
 * @param found the target's columns; `declared` is compared without regard to letter case and spaces
 * @returns statements that add missing columns; the added columns are nullable, whatever rows are there
 * @throws LOAD_FAILED where a column has another type, rejects nulls that exports contain, or a key column is missing
 */
export function statementsForMissingColumns(
  table: NamedTable,
  found: readonly FoundColumn[],
  { identifier, quote, declare }: Pick<Statements, 'identifier' | 'quote' | 'declare'>,
): string[] {
  const name = identifier(table.name)
  return table.columns.flatMap((column) => {
    const existing = found.find((one) => one.name === column.name)
    const nullable = declare({ ...column, nullable: true })
    if (existing === undefined) {
      if (table.key.includes(column.name)) throw conflict(name, `the key column ${column.name} is missing`)
      return [`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)} ${nullable}`]
    }
    const accepted = [declare(column), nullable]
    if (accepted.some((declared) => plain(existing.declared) === plain(declared))) return []
    throw conflict(name, `the column ${column.name} is ${existing.declared}, expected ${declare(column)}`)
  })
}

const plain = (declared: string) => declared.toLowerCase().replaceAll(' ', '')

function conflict(name: string, what: string): ExportError {
  return new ExportError('LOAD_FAILED', `the table ${name} does not fit: ${what}`, {
    fix: 'Rename or drop that table, or load into another place with --schema or --prefix.',
  })
}
