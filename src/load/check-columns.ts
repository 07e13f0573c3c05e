import { ExportError } from '../core/model/errors.ts'
import type { NamedTable } from './ddl/create-table.ts'
import type { Statements } from './target.ts'

export type ExistingColumn = { readonly name: string; readonly declared: string }

/**
 * Compares the columns of a table in the target with those of this version. Columns that users added are ignored.
 *
 * @param found the target's columns; `declared` is compared case-insensitively and without spaces
 * @returns statements that add missing columns, always as nullable, because existing rows have no values for them, and
 * that make columns nullable whose values later versions do not always have
 * @throws ExportError LOAD_FAILED if a column has another type, or rejects nulls in an engine that cannot change that, or
 * a key column is missing
 */
export function statementsForMissingColumns(
  table: NamedTable,
  found: readonly ExistingColumn[],
  { identifier, quote, declare, dropNotNull }: ColumnStatements,
): string[] {
  const name = identifier(table.name)
  return table.columns.flatMap((column) => {
    const existing = found.find((one) => one.name === column.name)
    const nullable = declare({ ...column, nullable: true })
    if (existing === undefined) {
      if (table.key.includes(column.name))
        throw columnConflict(name, `the key column ${column.name} is missing`)
      return [`ALTER TABLE ${name} ADD COLUMN ${quote(column.name)} ${nullable}`]
    }
    const accepted = [declare(column), nullable]
    if (accepted.some((declared) => normalizeType(existing.declared) === normalizeType(declared))) return []
    const isStricter =
      normalizeType(existing.declared) === normalizeType(declare({ ...column, nullable: false }))
    if (isStricter && dropNotNull !== undefined) return [dropNotNull(name, quote(column.name))]
    throw columnConflict(
      name,
      `the column ${column.name} is ${existing.declared}, expected ${declare(column)}`,
    )
  })
}

type ColumnStatements = Pick<Statements, 'identifier' | 'quote' | 'declare' | 'dropNotNull'>

const normalizeType = (declared: string) => declared.toLowerCase().replaceAll(' ', '')

function columnConflict(name: string, reason: string): ExportError {
  return new ExportError('LOAD_FAILED', `the table ${name} is incompatible: ${reason}`, {
    fix: 'Rename or drop that table and load all its outputs again: files whose rows are gone are loaded anew. Or load into other tables with --schema or --prefix.',
  })
}
