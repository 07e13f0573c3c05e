/** The value of `--to`, divided at its scheme. */
export type Address = {
  readonly text: string
  /** The scheme, in lower case. */
  readonly kind: string
  /** The text after the scheme and the colon. */
  readonly rest: string
  readonly env: NodeJS.ProcessEnv
}

/** Parses `duckdb:a/b.db`, `duckdb:///a/b.db` or `duckdb:/a/b.db`; SQLite alike. */
export function parseFile({ kind, rest }: Address) {
  const file = rest.replace(/^\/\/(?=\/)/, '')
  if (file === '' || file === ':memory:') return 'it names no file'
  return { kind, title: `${kind}:${file}`, file }
}

/** Missing parts come from PGHOST, PGDATABASE and PGPASSWORD. */
export function parsePostgres({ text, env }: Address) {
  const url = parseUrl(text)
  if (url === undefined) return NOT_A_URL
  const host = url.searchParams.get('host') ?? url.hostname
  const hostAndPort = `${host || env.PGHOST || 'localhost'}${url.port === '' ? '' : `:${url.port}`}`
  const database = decode(url.pathname.slice(1)) || env.PGDATABASE || ''
  const secrets = [decode(url.password), url.searchParams.get('password') ?? '', env.PGPASSWORD ?? '']
  return { kind: 'postgres', title: `postgres://${hostAndPort}/${database}`, url: text, secrets }
}

/** Credentials may come from CLICKHOUSE_USER and CLICKHOUSE_PASSWORD. */
export function parseClickhouse({ text, env }: Address) {
  const url = parseUrl(text)
  if (url === undefined) return NOT_A_URL
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
