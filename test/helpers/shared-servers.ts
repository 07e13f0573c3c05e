import { Redis } from 'ioredis'
import pg from 'pg'
import { postgresBook } from '../../src/client/gate/postgres-book.ts'
import type { Book } from '../../src/client/gate/quota-book.ts'
import { redisBook } from '../../src/client/gate/redis-book.ts'
import { openPatientPool } from '../../src/cluster/server/patient-pool.ts'
import { makeTables, SCHEMA } from '../../src/cluster/server/postgres-tables.ts'
import { noPostgres, startPostgres } from '../load/start-postgres.ts'
import { noRedis, startRedis } from './start-redis.ts'

/** A server of the test's own that machines share. */
export type TestServer = {
  readonly url: string
  /** The book of a quota; by the server's clock unless another is given. */
  book(quota: string, clock?: () => number): Book
  /** Forgets everything, as a server that was lost. */
  empty(): Promise<void>
  /** What the server still holds of runs; workers and quotas are none of theirs. */
  leftovers(): Promise<string[]>
  /** Ends as in a crash, and is there again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** The kinds of server that machines may share; a test of one that is missing is left out. */
export const SHARED_SERVERS = [
  { kind: 'Redis', isMissing: noRedis, start: onRedis },
  { kind: 'PostgreSQL', isMissing: noPostgres, start: onPostgres },
] as const

async function onRedis(): Promise<TestServer> {
  const server = await startRedis()
  const redis = new Redis(server.url)
  return {
    url: server.url,
    restart: server.restart,
    book: (quota, clock) => redisBook(redis, quota, clock),
    empty: async () => void (await redis.flushall()),
    leftovers: async () =>
      (await redis.keys('*')).filter((key) => !/^\{?walletlake:(quota|worker):/.test(key)),
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
}

async function onPostgres(): Promise<TestServer> {
  const { url, restart, stop } = await startPostgres()
  const pool = await openPatientPool({ url, schema: SCHEMA, prepare: makeTables })
  const admin = new pg.Pool({ connectionString: url, max: 1 })
  admin.on('error', () => undefined)
  return {
    ...{ url, restart },
    book: (quota, clock) => postgresBook(pool, quota, clock),
    empty: async () => void (await admin.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`)),
    leftovers: () => filledTables(admin),
    stop: async () => {
      await Promise.all([pool.end(), admin.end()])
      await stop()
    },
  }
}

/** The tables that have rows, but for those of quotas and workers, and of how BullMQ made its own. */
async function filledTables(admin: pg.Pool): Promise<string[]> {
  const text =
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename NOT IN ('quota', 'worker', 'migration')"
  const { rows } = await admin.query<{ name: string }>(text, [SCHEMA])
  const filled: string[] = []
  for (const { name } of rows)
    if ((await admin.query(`SELECT FROM ${SCHEMA}.${name} LIMIT 1`)).rowCount) filled.push(name)
  return filled
}
