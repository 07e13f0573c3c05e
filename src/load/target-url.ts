import { ExportError } from '../core/model/errors.ts'
import { DATABASES, type LoadableUrl } from './databases.ts'

/** A warehouse that loads files itself. For it, a script is printed. */
export type WarehouseUrl = {
  readonly kind: 'bigquery' | 'snowflake'
  readonly title: string
  readonly names: readonly string[]
}

const FORMATS = DATABASES.map(({ format }) => format)

/** The databases that `--to` can name, for the help. Details of URLs are left out. */
export const SHORT_FORMATS = orList(FORMATS.map((format) => format.replace(/:\/\/.*$/, '://…')))

/**
 * Parses a target's address. Passwords may be part of the address, or come from CLICKHOUSE_PASSWORD, PGPASSWORD and the
 * other sources of libpq. Throws USAGE with a message that does not repeat the address.
 */
export function parseTargetUrl(text: string, env: NodeJS.ProcessEnv): LoadableUrl | WarehouseUrl {
  const [, scheme = '', rest = ''] = /^([a-z+]+):(.*)$/is.exec(text) ?? []
  const kind = scheme.toLowerCase()
  if (kind === 'bigquery' || kind === 'snowflake') return parseWarehouse(kind, rest)
  const database = DATABASES.find(({ schemes }) => schemes.includes(kind))
  if (database === undefined)
    throw unknownTargetError(scheme === '' ? 'it has no scheme' : `unknown scheme ${kind}:`)
  const url = database.parse({ text, kind, rest, env })
  if (typeof url === 'string') throw unknownTargetError(url)
  return url
}

function unknownTargetError(reason: string): ExportError {
  return new ExportError('USAGE', `--to is not a valid target: ${reason}`, {
    fix: `Write it as ${orList([...FORMATS, 'bigquery:DATASET', 'snowflake:DATABASE.SCHEMA'])}.`,
  })
}

function orList(items: readonly string[]): string {
  return `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
}

/** Parses `bigquery:dataset`, `bigquery:project.dataset`, `snowflake:schema` or `snowflake:database.schema`. */
function parseWarehouse(kind: WarehouseUrl['kind'], rest: string): WarehouseUrl {
  const names = rest === '' ? [] : rest.split('.')
  if (kind === 'bigquery' && rest === '') throw unknownTargetError('bigquery: names no dataset')
  if (names.length > 2 || names.some((part) => !/^[A-Za-z_][A-Za-z0-9_-]*$/.test(part))) {
    throw unknownTargetError(`${kind}: takes at most two names, separated by a dot`)
  }
  return { kind, title: `${kind}:${rest}`, names }
}
