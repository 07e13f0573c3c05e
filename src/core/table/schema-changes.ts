import type { Manifest, ManifestTable } from '../model/manifest.ts'
import { TABLES, type Table } from './index.ts'

/**
 * Version of the tables' columns. It is incremented when a column is removed or changes its type or meaning.
 */
export const SCHEMA_VERSION = 1

/** What users do about an export of another version. */
export const UPGRADE_FIX =
  'Run its job again: the run rewrites all rows from the stored pages, or asks for --fresh if these are gone.'

/**
 * The differences between the columns of an export and those that this version writes, one phrase per table
 * that differs, such as `ledger lacks the column fee_usd`; empty if there are none.
 */
export function columnDifferences({ tables }: Pick<Manifest, 'tables'>): string[] {
  return TABLES.flatMap((table) => {
    const listed = tables[table.name]
    const difference = listed === undefined ? undefined : differenceOf(table, listed)
    return difference === undefined ? [] : [`${table.name} ${difference}`]
  })
}

function differenceOf({ columns }: Table, listed: ManifestTable): string | undefined {
  const names = new Set(columns.map(({ name }) => name))
  const existing = new Map(listed.columns.map((column) => [column.name, column]))
  const missing = columns.find(({ name }) => !existing.has(name))
  if (missing !== undefined) return `lacks the column ${missing.name}`
  const unexpected = listed.columns.find(({ name }) => !names.has(name))
  if (unexpected !== undefined) return `has a column ${unexpected.name}, which this version does not write`
  const changed = columns.find((column) => typeOf(column) !== typeOf(existing.get(column.name) ?? column))
  if (changed !== undefined)
    return `has ${changed.name} as ${typeOf(existing.get(changed.name) ?? changed)}, now ${typeOf(changed)}`
  const isOrdered = columns.every(({ name }, at) => listed.columns[at]?.name === name)
  return isOrdered ? undefined : 'has its columns in another order'
}

const typeOf = ({ type, nullable }: ManifestTable['columns'][number]) => `${type}${nullable ? '?' : ''}`
