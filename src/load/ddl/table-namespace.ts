import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { Dialect } from './dialect.ts'

/** Where tables of ours stand in an engine. */
export type TableNamespace = {
  /** Schema, dataset or database; absent: the engine's current one. */
  readonly schema?: string | undefined
  /** What comes before every table's name. */
  readonly prefix?: string | undefined
}

/** A table's name as an identifier, with its schema where there is one. */
export function tableIdentifier(
  name: string,
  dialect: Dialect,
  { schema, prefix = '' }: TableNamespace,
): string {
  const table = dialect.quote(`${prefix}${name}`)
  return schema === undefined ? table : `${dialect.quote(schema)}.${table}`
}

/** Refuses names that would need care in some engine, and a schema where the engine has none. Throws USAGE. */
export function checkNamespace({ schema, prefix }: TableNamespace, dialect: Dialect): void {
  for (const [option, name] of Object.entries({ schema, prefix })) {
    if (name === undefined || /^[a-z_][a-z0-9_]{0,39}$/.test(name)) continue
    throw optionError(option, {
      found: name,
      expected: 'lower-case letters, digits and _',
      fix: `Give a name of at most 40 letters, digits and _ that does not start with a digit.`,
    })
  }
  if (schema !== undefined && dialect.createSchema === undefined) {
    throw new ExportError('USAGE', `--schema: ${dialect.title} has no schemas`, {
      fix: 'Use --prefix to tell these tables from others.',
    })
  }
}
