import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { ExportError } from '../../core/model/errors.ts'
import { statementsForMissingColumns } from '../check-columns.ts'
import type { NamedTable } from '../ddl/create-table.ts'
import { engineError, importDriver } from '../engine-error.ts'
import { LOADS_TABLE, parseLoadRecord, recordCells } from '../loads-table.ts'
import type { Reader } from '../reader.ts'
import { columnList, STAGE, stagedMerge } from '../staged-merge.ts'
import type { LoadTarget, LocalFile, Statements } from '../target.ts'
import { connectWithFirst, sslConfigs } from './postgres-ssl.ts'

export type PostgresOptions = {
  readonly url: string
  /** Without credentials, for messages. */
  readonly title: string
  readonly secrets: readonly string[]
  readonly sql: Statements
  readonly reader: Reader
}

/** PostgreSQL text cannot contain U+0000, and COPY reads times as text. */
const CELL_FORMATS = { replaceNul: true, timeAsText: true } as const

/** Opens a PostgreSQL database. Rows are copied with COPY, into an empty table or into the stage. */
export async function openPostgres(options: PostgresOptions): Promise<LoadTarget> {
  const { title, secrets, sql, reader } = options
  const client = await connect(options)
  const fail = (cause: unknown, operation = title): never => {
    throw engineError(operation, cause, { secrets })
  }
  const run = async (text: string, values?: unknown[]) =>
    client.query(values === undefined ? { text } : { text, values }).catch((cause: unknown) => fail(cause))
  const loads = sql.identifier(LOADS_TABLE.name)
  const merge = stagedMerge(sql, async (statement) => (await run(statement)).rows)
  return {
    transactions: 'many',
    begin: async () => void (await run('BEGIN')),
    prepare: async (tables) => {
      await acquireLock(client, { title, sql })
      for (const statement of sql.createSchema) await run(statement)
      for (const table of [...tables, LOADS_TABLE]) await prepareTable(table, { sql, run })
    },
    records: async () => (await run(`SELECT * FROM ${loads}`)).rows.map(parseLoadRecord),
    ...merge,
    merge: async (table, removed) => {
      // Without statistics, the planner expects a small stage and may compare each of its rows with every row.
      await run(`ANALYZE ${STAGE}`)
      await merge.merge(table, removed)
    },
    chainIds: reader.chainIds,
    insert: async (file, into) => {
      const { path } = await reader.toCsv(file, CELL_FORMATS)
      try {
        return await copy(path, {
          client,
          file,
          into: into === 'stage' ? STAGE : sql.identifier(file.table.name),
          sql,
        })
      } catch (cause) {
        return fail(cause, `${file.name} into ${title}`)
      } finally {
        await rm(path, { force: true })
      }
    },
    saveRecord: async (record) => {
      const cells = recordCells(record)
      const placeholders = cells.map((_, at) => `$${at + 1}`).join(', ')
      await run(`INSERT INTO ${loads} VALUES (${placeholders}) ${onConflict(LOADS_TABLE, sql)}`, cells)
    },
    deleteRecords: async (records) => {
      for (const { outputId, table, path, sha256 } of records) {
        const where = 'output_id = $1 AND table_name = $2 AND path = $3 AND sha256 = $4'
        await run(`DELETE FROM ${loads} WHERE ${where}`, [outputId, table, path, sha256])
      }
    },
    commit: async () => void (await run('COMMIT')),
    rollback: async () => void (await client.query('ROLLBACK').catch(() => undefined)),
    close: () => client.end().catch(() => undefined),
  }
}

async function connect({ url, title, secrets }: PostgresOptions): Promise<Client> {
  const { default: pg } = await importDriver('pg pg-copy-streams', () => import('pg'))
  try {
    const client = await connectWithFirst(sslConfigs(url, process.env), (config) => new pg.Client(config))
    await client.query("SET client_encoding = 'UTF8'; SET timezone = 'UTC'; SET datestyle = 'ISO'")
    return client
  } catch (cause) {
    throw engineError(`cannot connect to ${title}`, cause, {
      secrets,
      fix: 'Check the host, port, database and user; the password can be set in PGPASSWORD.',
    })
  }
}

/** Allows one load at a time per schema and prefix. The lock is released with the connection. */
async function acquireLock(
  client: Client,
  { title, sql }: { title: string; sql: Statements },
): Promise<void> {
  const key = `walletlake ${sql.schema ?? ''} ${sql.prefix}`
  const { rows } = await client.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', [key])
  if ((rows[0] as { taken: boolean }).taken) return
  throw new ExportError('OUTPUT_LOCKED', `another load into ${title} is in progress`)
}

type Run = (text: string, values?: unknown[]) => Promise<{ rows: unknown[]; rowCount: number | null }>

async function prepareTable(table: NamedTable, { sql, run }: { sql: Statements; run: Run }): Promise<void> {
  const { rows } = await run(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS filled
     FROM pg_attribute a WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
    [sql.identifier(table.name)],
  )
  const existingColumns = rows as { name: string; type: string; filled: boolean }[]
  if (existingColumns.length === 0) {
    await run(sql.create(table).join(';\n'))
    return
  }
  const columns = existingColumns.map(({ name, type, filled }) => ({
    name,
    declared: filled ? `${type} NOT NULL` : type,
  }))
  for (const statement of statementsForMissingColumns(table, columns, sql)) await run(statement)
  await checkKey(table, { sql, run })
}

async function checkKey(
  { name, key }: NamedTable,
  { sql, run }: { sql: Statements; run: Run },
): Promise<void> {
  const { rows } = await run(
    `SELECT array_agg(a.attname::text ORDER BY a.attname) AS names FROM pg_index i
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indpred IS NULL GROUP BY i.indexrelid`,
    [sql.identifier(name)],
  )
  const expectedKey = [...key].sort().join()
  if ((rows as { names: string[] }[]).some(({ names }) => names.join() === expectedKey)) return
  throw new ExportError(
    'LOAD_FAILED',
    `the table ${sql.identifier(name)} has no unique key on ${key.join(', ')}`,
    {
      fix: `ALTER TABLE ${sql.identifier(name)} ADD PRIMARY KEY (${key.join(', ')}), or load into other tables with --schema or --prefix.`,
    },
  )
}

type CopyOptions = { client: Client; file: LocalFile; into: string; sql: Statements }

/** Streams plain CSV into a table with COPY. Resolves with the number of rows. */
async function copy(path: string, { client, file, into, sql }: CopyOptions): Promise<number> {
  const { from } = await importDriver('pg pg-copy-streams', () => import('pg-copy-streams'))
  const columns = columnList(file.table, sql)
  const stream = client.query(
    from(`COPY ${into} (${columns}) FROM STDIN WITH (FORMAT csv, NULL '', ENCODING 'UTF8')`),
  )
  await pipeline(createReadStream(path, { highWaterMark: 1 << 18 }), stream)
  return stream.rowCount
}

function onConflict({ columns, key }: NamedTable, { quote }: Statements): string {
  const others = columns.filter(({ name }) => !key.includes(name)).map(({ name }) => quote(name))
  const set = others.map((name) => `${name} = EXCLUDED.${name}`).join(', ')
  return `ON CONFLICT (${key.map(quote).join(', ')}) DO UPDATE SET ${set}`
}
