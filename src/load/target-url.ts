import { ExportError } from '../core/model/errors.ts'

/** The parsed value of `--to`. `title` names the target without credentials and query string. */
export type TargetUrl =
  | { readonly kind: 'duckdb'; readonly title: string; readonly file: string }
  | { readonly kind: 'sqlite'; readonly title: string; readonly file: string }
  | {
      readonly kind: 'postgres'
      readonly title: string
      readonly url: string
      readonly secrets: readonly string[]
    }
  | {
      readonly kind: 'clickhouse'
      readonly title: string
      readonly url: string
      readonly username: string
      readonly password: string
      readonly database: string
    }
  | { readonly kind: 'bigquery' | 'snowflake'; readonly title: string; readonly names: readonly string[] }

const URL_FORMATS =
  'duckdb:FILE, sqlite:FILE, postgres://USER@HOST/DATABASE, clickhouse://USER@HOST:8123/DATABASE, bigquery:DATASET or snowflake:DATABASE.SCHEMA'

/**
 * Parses a target's address. Passwords may be part of the address, or come from CLICKHOUSE_PASSWORD, PGPASSWORD and the
 * other sources of libpq. Throws USAGE with a message that does not repeat the address.
 */
export function parseTargetUrl(text: string, env: NodeJS.ProcessEnv): TargetUrl {
  const [, scheme = '', rest = ''] = /^([a-z+]+):(.*)$/is.exec(text) ?? []
  const kind = scheme.toLowerCase()
  if (kind === 'duckdb' || kind === 'sqlite') return parseFile(kind, rest)
  if (kind === 'postgres' || kind === 'postgresql') return parsePostgres(text, env)
  if (kind === 'clickhouse' || kind === 'clickhouses') return parseClickhouse(text, env)
  if (kind === 'bigquery' || kind === 'snowflake') return parseWarehouse(kind, rest)
  throw unknownTargetError(scheme === '' ? 'it has no scheme' : `unknown scheme ${kind}:`)
}

function unknownTargetError(reason: string): ExportError {
  return new ExportError('USAGE', `--to is not a valid target: ${reason}`, {
    fix: `Write it as ${URL_FORMATS}.`,
  })
}

/** Parses `duckdb:a/b.db`, `duckdb:///a/b.db` or `duckdb:/a/b.db`; SQLite alike. */
function parseFile(kind: 'duckdb' | 'sqlite', rest: string): TargetUrl {
  const file = rest.replace(/^\/\/(?=\/)/, '')
  if (file === '' || file === ':memory:') throw unknownTargetError('it names no file')
  return { kind, title: `${kind}:${file}`, file }
}

function parsePostgres(text: string, env: NodeJS.ProcessEnv): TargetUrl {
  const url = parseUrl(text)
  const host = url.searchParams.get('host') ?? url.hostname
  const hostAndPort = `${host || env.PGHOST || 'localhost'}${url.port === '' ? '' : `:${url.port}`}`
  const database = decode(url.pathname.slice(1)) || env.PGDATABASE || ''
  const secrets = [decode(url.password), url.searchParams.get('password') ?? '', env.PGPASSWORD ?? '']
  return { kind: 'postgres', title: `postgres://${hostAndPort}/${database}`, url: text, secrets }
}

function parseClickhouse(text: string, env: NodeJS.ProcessEnv): TargetUrl {
  const url = parseUrl(text)
  const secure =
    url.protocol === 'clickhouses:' ||
    url.port === '8443' ||
    ['1', 'true'].includes(url.searchParams.get('secure') ?? '')
  const hostAndPort = `${url.hostname}:${url.port || (secure ? '8443' : '8123')}`
  const database = decode(url.pathname.slice(1)) || 'default'
  return {
    kind: 'clickhouse',
    title: `clickhouse://${hostAndPort}/${database}`,
    url: `${secure ? 'https' : 'http'}://${hostAndPort}`,
    username: decode(url.username) || (env.CLICKHOUSE_USER ?? 'default'),
    password: decode(url.password) || (env.CLICKHOUSE_PASSWORD ?? ''),
    database,
  }
}

function parseUrl(text: string): URL {
  try {
    const url = new URL(text)
    decodeURIComponent(url.username + url.password + url.pathname)
    return url
  } catch {
    throw unknownTargetError('the address is not a URL (special characters in a password must be %-encoded)')
  }
}

const decode = decodeURIComponent

/** Parses `bigquery:dataset`, `bigquery:project.dataset`, `snowflake:schema` or `snowflake:database.schema`. */
function parseWarehouse(kind: 'bigquery' | 'snowflake', rest: string): TargetUrl {
  const names = rest === '' ? [] : rest.split('.')
  if (kind === 'bigquery' && rest === '') throw unknownTargetError('bigquery: names no dataset')
  if (names.length > 2 || names.some((part) => !/^[A-Za-z_][A-Za-z0-9_-]*$/.test(part))) {
    throw unknownTargetError(`${kind}: takes at most two names, separated by a dot`)
  }
  return { kind, title: `${kind}:${rest}`, names }
}
