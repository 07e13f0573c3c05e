import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { Dialect } from './dialect.ts'

/** Schema and name prefix of the tables in an engine. */
export type TableNamespace = {
  /** Schema, dataset or database. @default the engine's current one */
  readonly schema?: string | undefined
  /** Prefix of every table's name. @default '' */
  readonly prefix?: string | undefined
}

/** Quotes a table's name, with prefix and, if given, schema. */
export function tableIdentifier(
  name: string,
  dialect: Dialect,
  { schema, prefix = '' }: TableNamespace,
): string {
  const table = dialect.quote(`${prefix}${name}`)
  return schema === undefined ? table : `${dialect.quote(schema)}.${table}`
}

/** Throws USAGE for names that some engine would not accept unquoted, and for a schema if the engine has none. */
export function checkNamespace({ schema, prefix }: TableNamespace, dialect: Dialect): void {
  for (const [option, name] of Object.entries({ schema, prefix })) {
    if (name === undefined || /^[a-z_][a-z0-9_]{0,39}$/.test(name)) continue
    throw optionError(option, {
      found: name,
      expected: 'lower-case letters, digits and _',
      fix: `Use at most 40 lower-case letters, digits and _, not starting with a digit.`,
    })
  }
  if (schema !== undefined && dialect.createSchema === undefined) {
    throw new ExportError('USAGE', `--schema: ${dialect.title} has no schemas`, {
      fix: 'Use --prefix to distinguish these tables from others.',
    })
  }
}
