import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Client, ClientConfig } from 'pg'
import { ExportError } from '../../core/model/errors.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import { DIALECTS } from '../ddl/dialects.ts'
import { columnList } from '../ddl/tables.ts'
import { engineError, importDriver } from '../engine-error.ts'
import type { LocalFile, Reader } from '../reader.ts'
import { type Engine, STAGE } from '../target.ts'

export type PostgresAddress = {
  readonly url: string
  /** Without credentials, for messages. */
  readonly title: string
  readonly secrets: readonly string[]
}

/** PostgreSQL text cannot contain U+0000, and COPY reads times as text. */
const CELL_FORMATS = { replaceNul: true, timeAsText: true } as const

/** Opens a PostgreSQL database. Rows are copied with COPY, into an empty table or into the stage. */
export async function openPostgres(address: PostgresAddress, reader: Reader): Promise<Engine> {
  const { title, secrets } = address
  const client = await connect(address)
  const fail = (cause: unknown, operation = title): never => {
    throw engineError(operation, cause, { secrets })
  }
  const query = async (text: string) =>
    (await client.query({ text }).catch((cause: unknown) => fail(cause))).rows
  return {
    transactions: 'many',
    dialect: DIALECTS.postgres,
    query,
    columnsSql: ({ identifier }) =>
      `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS filled
       FROM pg_attribute a WHERE a.attrelid = to_regclass(${quoteLiteral(identifier)}) AND a.attnum > 0 AND NOT a.attisdropped`,
    insert: async (file, into) => {
      const { path } = await reader.toCsv(file, CELL_FORMATS)
      try {
        const rows = await copy(path, client, file, into)
        // Without statistics, the planner expects a small stage and may compare each of its rows with every row.
        if (into === STAGE) await query(`ANALYZE ${STAGE}`)
        return rows
      } catch (cause) {
        return fail(cause, `${file.name} into ${title}`)
      } finally {
        await rm(path, { force: true })
      }
    },
    // One load at a time per schema and prefix. The lock is released with the connection.
    lock: async ({ schema = '', prefix = '' }) => {
      const key = quoteLiteral(`walletlake ${schema} ${prefix}`)
      const [row] = await query(`SELECT pg_try_advisory_lock(hashtextextended(${key}, 0)) AS taken`)
      if (row.taken) return
      throw new ExportError('OUTPUT_LOCKED', `another load into ${title} is in progress`)
    },
    checkTable: async ({ key }, identifier) => {
      const keys = await query(
        `SELECT array_agg(a.attname::text ORDER BY a.attname) AS names FROM pg_index i
         JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = to_regclass(${quoteLiteral(identifier)}) AND i.indisunique AND i.indpred IS NULL
         GROUP BY i.indexrelid`,
      )
      const expected = [...key].sort().join()
      if (keys.some(({ names }) => names.join() === expected)) return
      throw new ExportError('LOAD_FAILED', `the table ${identifier} has no unique key on ${key.join(', ')}`, {
        fix: `ALTER TABLE ${identifier} ADD PRIMARY KEY (${key.join(', ')}), or load into other tables with --schema or --prefix.`,
      })
    },
    commit: async () => void (await query('COMMIT')),
    rollback: async () => void (await client.query('ROLLBACK').catch(() => undefined)),
    close: () => client.end().catch(() => undefined),
  }
}

async function connect({ url, title, secrets }: PostgresAddress): Promise<Client> {
  const { default: pg } = await importDriver('pg pg-copy-streams', () => import('pg'))
  try {
    const client = await connectWithFirst(sslConfigs(url, process.env), (config) => new pg.Client(config))
    await client.query(
      "SET client_encoding = 'UTF8'; SET timezone = 'UTC'; SET datestyle = 'ISO'; SET standard_conforming_strings = on",
    )
    return client
  } catch (cause) {
    throw engineError(`cannot connect to ${title}`, cause, {
      secrets,
      fix: 'Check the host, port, database and user; the password can be set in PGPASSWORD.',
    })
  }
}

/** Streams plain CSV into a table with COPY. Resolves with the number of rows. */
async function copy(path: string, client: Client, { table }: LocalFile, into: string): Promise<number> {
  const { from } = await importDriver('pg pg-copy-streams', () => import('pg-copy-streams'))
  const columns = columnList(table, DIALECTS.postgres)
  const stream = client.query(
    from(`COPY ${into} (${columns}) FROM STDIN WITH (FORMAT csv, NULL '', ENCODING 'UTF8')`),
  )
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), stream)
  return stream.rowCount
}

/**
 * Returns the client configurations to try in order. An explicit `sslmode` (from the address or PGSSLMODE) is used as
 * it is. The default is libpq's `prefer`: encrypted if the server supports it. `pg` alone would connect unencrypted by
 * default and treat `prefer` like `verify-full`.
 */
export function sslConfigs(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): ClientConfig[] {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode') ?? env.PGSSLMODE ?? 'prefer'
  const isExplicit = ['ssl', 'sslcert', 'sslrootcert'].some((name) => url.searchParams.has(name))
  const shared = { connectionString: address, application_name: 'walletlake' }
  if (isExplicit || !['prefer', 'allow', ''].includes(mode)) return [shared]
  url.searchParams.delete('sslmode')
  const withoutSslMode = { ...shared, connectionString: url.href }
  if (isSocket(url, env)) return [{ ...withoutSslMode, ssl: false }]
  return [
    { ...withoutSslMode, ssl: { rejectUnauthorized: false } },
    { ...withoutSslMode, ssl: false },
  ]
}

/** Whether the host is a local Unix socket, which needs no encryption. */
function isSocket(
  { hostname, searchParams }: URL,
  { PGHOST = '' }: { PGHOST?: string | undefined },
): boolean {
  return (searchParams.get('host') ?? (decodeURIComponent(hostname) || PGHOST)).startsWith('/')
}

/** Connects with the first configuration; if the server does not support SSL, with the next. */
export async function connectWithFirst(
  configs: readonly ClientConfig[],
  open: (config: ClientConfig) => Client,
): Promise<Client> {
  for (const [at, config] of configs.entries()) {
    const client = open(config)
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (cause) {
      const isLast = at === configs.length - 1
      if (isLast || !(cause instanceof Error) || !NO_SSL.test(cause.message)) throw cause
      await client.end().catch(() => undefined)
    }
  }
  throw new Error('no client configuration')
}

const NO_SSL = /server does not support SSL/i
