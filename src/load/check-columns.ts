import { ExportError } from '../core/errors.ts'
import type { NamedTable } from '../sql/create-table.ts'
import type { Statements } from './target.ts'

export type FoundColumn = { readonly name: string; readonly declared: string }

/**
 * Refuses a table that has other columns than ours: a missing column would be lost, a further one would lose its content
 * whenever rows are replaced. `declared` is compared without regard to letter case. Throws LOAD_FAILED.
 */
export function checkColumns(
  table: NamedTable,
  found: readonly FoundColumn[],
  { identifier, declare }: Pick<Statements, 'identifier' | 'declare'>,
): void {
  const name = identifier(table.name)
  for (const column of table.columns) {
    const there = found.find((one) => one.name === column.name)
    const wanted = declare(column)
    if (there === undefined) throw differs(name, `the column ${column.name} ${wanted} is missing`)
    if (plain(there.declared) === plain(wanted)) continue
    throw differs(name, `the column ${column.name} is ${there.declared}, expected ${wanted}`)
  }
  const further = found.find((one) => table.columns.every((column) => column.name !== one.name))
  if (further !== undefined) throw differs(name, `it has a further column, ${further.name}`)
}

const plain = (declared: string) => declared.toLowerCase().replaceAll(' ', '')

function differs(name: string, what: string): ExportError {
  return new ExportError('LOAD_FAILED', `the table ${name} is not ours: ${what}`, {
    fix: 'Rename or drop that table, or load into another place with --schema or --prefix.',
  })
}
