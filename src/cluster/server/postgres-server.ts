import { type BackendFactory, type PgPool, PostgresConnection, PostgresQueueBackend } from 'bullmq'
import { postgresBook } from '../../client/gate/postgres-book.ts'
import { openPatientPool, type PatientPool } from './patient-pool.ts'
import { makeTables, SCHEMA } from './postgres-tables.ts'
import { ALIVE_SECONDS, type Connecting, type OpenRun, type SharedServer } from './shared-server.ts'

/** Connects to a PostgreSQL; its queries wait for one that is away. */
export async function connectPostgres(url: string): Promise<Connecting> {
  const pool = await openPatientPool({ url, schema: SCHEMA, prepare: makeTables })
  return { server: serverOn(pool), ready: pool.query('SELECT 1'), trouble: pool.trouble }
}

const ANNOUNCE = `INSERT INTO run VALUES ($1, $2)
  ON CONFLICT (id) DO UPDATE SET about = excluded.about WHERE run.about <> excluded.about`
/** Also buries workers that were killed. */
const ALIVE = `WITH dead AS (DELETE FROM worker WHERE id IN (
    SELECT id FROM worker WHERE id <> $1 AND seen < clock_timestamp() - $2::interval FOR UPDATE SKIP LOCKED))
  INSERT INTO worker VALUES ($1, clock_timestamp()) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`
/** A run that is over is counted no more. */
const COUNT = `INSERT INTO tally SELECT run.id, more.key, more.value::bigint
  FROM (SELECT id FROM run WHERE id = $1 FOR KEY SHARE) AS run, jsonb_each_text($2::jsonb) AS more ORDER BY more.key
  ON CONFLICT (run, name) DO UPDATE SET count = tally.count + excluded.count`
const alive = `${ALIVE_SECONDS} seconds`

function serverOn(pool: PatientPool): SharedServer {
  const valuesOf = async (text: string, values: unknown[]) =>
    (await pool.query(text, values)).rows.map((row) => Object.values(row as object))
  return {
    announce: async (run) => void (await pool.query(ANNOUNCE, [run.id, JSON.stringify(run)])),
    withdraw: async (id) => void (await pool.query('DELETE FROM run WHERE id = $1', [id])),
    runs: async () =>
      (await valuesOf('SELECT about FROM run ORDER BY id', [])).map(([run]) => run as OpenRun),
    sayAlive: async (id) => void (await pool.query(ALIVE, [id, alive])),
    sayGone: async (id) => void (await pool.query('DELETE FROM worker WHERE id = $1', [id])),
    workers: async () => {
      const text = 'SELECT id FROM worker WHERE seen > clock_timestamp() - $1::interval'
      return new Set((await valuesOf(text, [alive])).map(([id]) => id as string))
    },
    count: async (id, more) => void (await pool.query(COUNT, [id, JSON.stringify(more)])),
    counted: async (id) => {
      const counts = await valuesOf('SELECT name, count FROM tally WHERE run = $1', [id])
      return Object.fromEntries(counts.map(([name, count]) => [name, Number(count)]))
    },
    book: (quota) => postgresBook(pool, quota),
    backend: backendOn(pool),
    placeOf: (id, kind) => ({
      name: `walletlake-${id}-${kind}`,
      options: { connection: {}, skipMetasUpdate: true },
    }),
    close: pool.end,
  }
}

/** BullMQ's queues in our schema, by connections that wait; its own would be given up once they fail at the start. */
function backendOn(pool: PatientPool): BackendFactory {
  const ignore = (): unknown => shared
  // The types of `pg` name the events of `on` in another way.
  const shared = { ...pool, on: ignore, removeAllListeners: ignore } as unknown as PgPool
  return (name, opts) => new PostgresQueueBackend(new Prepared(shared), name, { ...opts, connection: shared })
}

/** The pool's first query prepares the schema. */
class Prepared extends PostgresConnection {
  override readonly schema = SCHEMA
  override waitUntilReady = async () => {}
}
