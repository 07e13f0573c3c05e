import { ExportError } from '../core/model/errors.ts'
import { readStart } from '../core/platform/disk.ts'
import { DIALECTS, type Dialect } from './ddl/dialects.ts'
import { openClickhouse } from './engines/clickhouse.ts'
import { openDuckdb } from './engines/duckdb.ts'
import { openPostgres } from './engines/postgres.ts'
import { openSqlite } from './engines/sqlite.ts'
import type { Reader, ReaderOptions } from './reader.ts'
import type { Engine } from './target.ts'

/** The value of `--to`, divided at its scheme. */
type Address = {
  readonly text: string
  /** The scheme, in lower case. */
  readonly kind: string
  /** The text after the scheme and the colon. */
  readonly rest: string
  readonly env: NodeJS.ProcessEnv
}

/** The address of a database that rows are loaded into. */
export type LoadableUrl = {
  readonly kind: string
  /** Names the database without credentials and query string. */
  readonly title: string
  /** The path of a database that is a file. */
  readonly file?: string
  /** Schema of the tables, unless the user names another one. */
  readonly schema?: string
  readonly dialect: Dialect
  /** Connects. The caller must call `close`. Throws LOAD_FAILED or OUTPUT_LOCKED. */
  open(reader: Reader, options: ReaderOptions): Promise<Engine>
}

type Database = {
  /** Schemes of its addresses, in lower case. */
  readonly schemes: readonly string[]
  /** How an address is written, for messages and the help. */
  readonly format: string
  /** Returns the reason if the address is invalid. */
  readonly parse: (address: Address) => LoadableUrl | string
}

/** Databases that rows are loaded into. To add a database, write its engine and its dialect, and add an entry. */
const DATABASES: readonly Database[] = [
  {
    schemes: ['duckdb'],
    format: 'duckdb:FILE',
    parse: parseFile(DIALECTS.duckdb, { offset: 8, magic: 'DUCK' }, (file, _, options) =>
      openDuckdb(file, options),
    ),
  },
  {
    schemes: ['sqlite'],
    format: 'sqlite:FILE',
    parse: parseFile(DIALECTS.sqlite, { offset: 0, magic: 'SQLite format 3\0' }, openSqlite),
  },
  { schemes: ['postgres', 'postgresql'], format: 'postgres://USER@HOST/DATABASE', parse: parsePostgres },
  {
    schemes: ['clickhouse', 'clickhouses'],
    format: 'clickhouse://USER@HOST:8123/DATABASE',
    parse: parseClickhouse,
  },
]

const FORMATS = DATABASES.map(({ format }) => format)

/** The databases that `--to` can name, for the help. Details of URLs are left out. */
export const SHORT_FORMATS = orList(FORMATS.map((format) => format.replace(/:\/\/.*$/, '://…')))

/** A warehouse that loads files itself. For it, a script is printed. */
export type WarehouseUrl = {
  readonly kind: 'bigquery' | 'snowflake'
  readonly title: string
  readonly names: readonly string[]
}

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

/** The magic bytes of an engine's database files, with their offset. */
type Magic = { readonly offset: number; readonly magic: string }

/** Returns a parser of `duckdb:a/b.db`, `duckdb:///a/b.db` or `duckdb:/a/b.db`; SQLite alike. */
function parseFile(
  dialect: Dialect,
  magic: Magic,
  openFile: (file: string, reader: Reader, options: ReaderOptions) => Promise<Engine>,
): Database['parse'] {
  return ({ kind, rest }) => {
    const file = rest.replace(/^\/\/(?=\/)/, '')
    if (file === '' || file === ':memory:') return 'it names no file'
    const title = `${kind}:${file}`
    const open = async (reader: Reader, options: ReaderOptions) => {
      await assertOwnDatabase(kind, file, dialect.title, magic)
      return openFile(file, reader, options)
    }
    return { kind, title, file, dialect, open }
  }
}

/**
 * Throws LOAD_FAILED if the file exists, is not empty and is not a database of this engine. Runs before anything is
 * created next to the file.
 */
async function assertOwnDatabase(
  kind: string,
  file: string,
  engine: string,
  { offset, magic }: Magic,
): Promise<void> {
  // Opening the database reports why a file cannot be read.
  const start = await readStart(file, offset + magic.length).catch(() => undefined)
  if (start === undefined || start.length === 0 || start.subarray(offset).toString('latin1') === magic) return
  throw new ExportError('LOAD_FAILED', `cannot open ${kind}:${file}: the file is not a ${engine} database`, {
    fix: `Name a ${engine} database after ${kind}:, or a file that does not exist yet.`,
  })
}

/** Missing parts come from PGHOST, PGDATABASE and PGPASSWORD. */
function parsePostgres({ text, env }: Address): LoadableUrl | string {
  const url = parseUrl(text)
  if (url === undefined) return NOT_A_URL
  const host = url.searchParams.get('host') ?? url.hostname
  const hostAndPort = `${host || env.PGHOST || 'localhost'}${url.port === '' ? '' : `:${url.port}`}`
  const database = decode(url.pathname.slice(1)) || env.PGDATABASE || ''
  const secrets = [decode(url.password), url.searchParams.get('password') ?? '', env.PGPASSWORD ?? '']
  const address = { url: text, title: `postgres://${hostAndPort}/${database}`, secrets }
  const open = (reader: Reader) => openPostgres(address, reader)
  return { ...address, kind: 'postgres', dialect: DIALECTS.postgres, open }
}

/** Credentials may come from CLICKHOUSE_USER and CLICKHOUSE_PASSWORD. */
function parseClickhouse({ text, env }: Address): LoadableUrl | string {
  const url = parseUrl(text)
  if (url === undefined) return NOT_A_URL
  const secure =
    url.protocol === 'clickhouses:' ||
    url.port === '8443' ||
    ['1', 'true'].includes(url.searchParams.get('secure') ?? '')
  const hostAndPort = `${url.hostname}:${url.port || (secure ? '8443' : '8123')}`
  const database = decode(url.pathname.slice(1)) || 'default'
  const address = {
    title: `clickhouse://${hostAndPort}/${database}`,
    url: `${secure ? 'https' : 'http'}://${hostAndPort}`,
    username: decode(url.username) || (env.CLICKHOUSE_USER ?? 'default'),
    password: decode(url.password) || (env.CLICKHOUSE_PASSWORD ?? ''),
    database,
  }
  const open = (reader: Reader) => openClickhouse(address, reader)
  return { ...address, kind: 'clickhouse', schema: database, dialect: DIALECTS.clickhouse, open }
}

const NOT_A_URL = 'the address is not a URL (special characters in a password must be %-encoded)'

function parseUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    decodeURIComponent(url.username + url.password + url.pathname)
    return url
  } catch {
    return undefined
  }
}

const decode = decodeURIComponent
