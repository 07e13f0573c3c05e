import { ExportError } from '../model/errors.ts'
import { suggest } from '../model/suggest.ts'
import { TABLE_NAMES, TABLES, type Table } from './index.ts'

export type TableNameContext = {
  /** The option that the names were given to, such as `--tables`. */
  readonly where?: string | undefined
  /** Other words that are accepted besides table names, for the suggestion. */
  readonly alternatives?: readonly string[]
}

/**
 * Selects tables by name, without duplicates and in the order of `TABLES`. Throws USAGE with the most similar
 * name.
 */
export function selectTables(names: readonly string[], context: TableNameContext = {}): Table[] {
  const unknown = names.filter((name) => TABLE_NAMES.every((known) => known !== name))
  if (unknown.length > 0) throw unknownTableError(String(unknown[0]), context)
  return TABLES.filter(({ name }) => names.includes(name))
}

function unknownTableError(name: string, { where, alternatives = [] }: TableNameContext): ExportError {
  const known = [...TABLE_NAMES, ...alternatives]
  const suggestion = suggest(name, known)
  return new ExportError('USAGE', `${where === undefined ? '' : `${where}: `}there is no table ${name}`, {
    fix: suggestion === undefined ? `Name one of ${known.join(', ')}.` : `Did you mean ${suggestion}?`,
  })
}
