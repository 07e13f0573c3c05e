import { ExportError } from '../model/errors.ts'
import { nearest } from '../model/suggest.ts'
import type { Table } from './column.ts'
import { TABLE_NAMES, TABLES } from './index.ts'

export type TableWords = {
  /** What the names were given to, such as `--tables`. */
  readonly where?: string | undefined
  /** Words that may stand in a table's place, for the advice. */
  readonly others?: readonly string[]
}

/** The tables of these names, each once and in the tables' own order. Throws USAGE with the nearest name. */
export function tablesNamed(names: readonly string[], words: TableWords = {}): Table[] {
  const strangers = names.filter((name) => TABLE_NAMES.every((known) => known !== name))
  if (strangers.length > 0) throw noTable(String(strangers[0]), words)
  return TABLES.filter(({ name }) => names.includes(name))
}

function noTable(name: string, { where, others = [] }: TableWords): ExportError {
  const known = [...TABLE_NAMES, ...others]
  const near = nearest(name, known)
  return new ExportError('USAGE', `${where === undefined ? '' : `${where}: `}there is no table ${name}`, {
    fix: near === undefined ? `Name one of ${known.join(', ')}.` : `Did you mean ${near}?`,
  })
}
