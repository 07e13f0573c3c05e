import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { GENERATOR } from '../../core/model/version.ts'
import { redisBook } from '../rate-limit/redis-shared-state.ts'
import { parseRuns } from '../run-entry.ts'
import { parseAs, version } from '../schemas.ts'
import { wordsOf } from './error-message.ts'
import {
  ALIVE_SECONDS,
  type AliveWorkers,
  type Connecting,
  FORGET_SECONDS,
  type QueueAddress,
  type SharedServer,
} from './shared-server.ts'

/** The version of a worker that does not say it. */
const UNKNOWN = 'an unknown version'

const RUNS = 'walletlake:runs'
const workerKey = (id: string) => `walletlake:worker:${id}`
/** One prefix a run: what a queue remembers of one run never meets another. */
const prefixOf = (id: string) => `walletlake-${id}`
const tallyKey = (id: string) => `${prefixOf(id)}:tally`

/** Connects to a Redis; its commands wait for one that is away. */
export function connectRedis({ url, password }: QueueAddress): Connecting {
  let trouble: string | undefined
  const redis = new Redis(url, {
    ...(password !== undefined && { password }),
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(1_000, 50 * times),
  })
  redis.on('error', (error: Error) => {
    trouble = wordsOf(error)
  })
  return { server: serverOn(redis), ready: redis.ping(), trouble: () => trouble }
}

function serverOn(redis: Redis): SharedServer {
  return {
    announce: async (run) => void (await redis.hset(RUNS, run.id, JSON.stringify(run))),
    withdraw: async (id) => void (await redis.multi().hdel(RUNS, id).del(tallyKey(id)).exec()),
    runs: async () => parseRuns(await redis.hgetall(RUNS)),
    sayAlive: async (id) => void (await redis.set(workerKey(id), GENERATOR, 'EX', ALIVE_SECONDS)),
    sayGone: async (id) => void (await redis.del(workerKey(id))),
    workers: () => listWorkers(redis),
    count: async (id, more) => {
      const batch = redis.pipeline()
      for (const [name, count] of Object.entries(more)) batch.hincrby(tallyKey(id), name, count)
      await batch.expire(tallyKey(id), FORGET_SECONDS).exec()
    },
    counted: async (id) => {
      const counts = await redis.hgetall(tallyKey(id))
      const numbers = Object.entries(counts).map(([name, count]) => [name, Number(count)] as const)
      return Object.fromEntries(numbers.filter(([, count]) => Number.isSafeInteger(count) && count >= 0))
    },
    book: (quota) => redisBook(redis, quota),
    backend: createRedisBackend,
    placeOf: (id, kind) => ({ name: kind, options: { prefix: prefixOf(id), connection: redis } }),
    close: async () => redis.disconnect(),
  }
}

async function listWorkers(redis: Redis): Promise<AliveWorkers> {
  const workers = new Map<string, string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', workerKey('*'), 'COUNT', 1_000)
    const versions = keys.length === 0 ? [] : await redis.mget(keys)
    for (const [at, key] of keys.entries())
      workers.set(key.slice(workerKey('').length), parseAs(version, versions[at]) ?? UNKNOWN)
    cursor = next
  } while (cursor !== '0')
  return workers
}
