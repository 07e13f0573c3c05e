import { createHash } from 'node:crypto'
import { LATEST_SCHEMA_VERSION, runMigrations } from 'bullmq'
import type { Client } from 'pg'
import { QUOTA_SQL } from '../../client/gate/postgres-book.ts'
import { ALIVE_SECONDS } from './shared-server.ts'

/** Everything of ours is in it, BullMQ's tables too: whoever drops it drops all. */
export const SCHEMA = 'walletlake_queue'

const TABLES = `
CREATE TABLE run (id text PRIMARY KEY, about jsonb NOT NULL);
CREATE TABLE tally (
  run text REFERENCES run ON DELETE CASCADE, name text, count bigint NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE worker (id text PRIMARY KEY, seen timestamptz NOT NULL);
${QUOTA_SQL}`

/** Names the form of the tables: what has another is of another version, and is made anew once nobody uses it. */
const FORM = createHash('sha256').update(`${LATEST_SCHEMA_VERSION}${TABLES}`).digest('hex').slice(0, 16)

/** Makes our tables where they are not there, in a schema of their own; only one process does so at a time. */
export async function makeTables(client: Client): Promise<void> {
  if ((await formOf(client)) === FORM) return
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [SCHEMA])
  if ((await formOf(client)) === FORM) return
  if (await isInUse(client))
    throw new Error(
      `another version of walletlake uses the schema ${SCHEMA}: end its runs and workers, or drop it`,
    )
  await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`)
  await runMigrations(client, SCHEMA)
  await client.query(`BEGIN; ${TABLES}; COMMENT ON SCHEMA ${SCHEMA} IS 'walletlake ${FORM}'; COMMIT`)
}

async function isInUse(client: Client): Promise<boolean> {
  const { rows: found } = await client.query('SELECT FROM to_regclass($1) AS run WHERE run IS NOT NULL', [
    `${SCHEMA}.worker`,
  ])
  if (found.length === 0) return false
  const text = `SELECT FROM ${SCHEMA}.run UNION ALL SELECT FROM ${SCHEMA}.worker WHERE seen > clock_timestamp() - $1::interval`
  return (await client.query(text, [`${ALIVE_SECONDS} seconds`])).rows.length > 0
}

async function formOf(client: Client): Promise<string | undefined> {
  const text = "SELECT obj_description(to_regnamespace($1)::oid, 'pg_namespace') AS form"
  const { rows } = await client.query<{ form: string | null }>(text, [SCHEMA])
  return /^walletlake (\w+)$/.exec(rows[0]?.form ?? '')?.[1]
}
