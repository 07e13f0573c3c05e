import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { GENERATOR } from '../../core/model/version.ts'
import { openRedisStore } from '../rate-limit/redis-store.ts'
import { parseRuns } from '../run-entry.ts'
import { parseAs, version } from '../schemas.ts'
import { errorMessage } from './error-message.ts'
import {
  type LiveWorkers,
  type PendingConnection,
  PROGRESS_TTL_SECONDS,
  type QueueAddress,
  type SharedServer,
  WORKER_TTL_SECONDS,
} from './shared-server.ts'

/** Version of a worker that reports none. */
const UNKNOWN_VERSION = 'an unknown version'

const RUNS_KEY = 'walletlake:runs'
const workerKey = (id: string) => `walletlake:worker:${id}`
/** Each run has its own key prefix, so that the queues of two runs never mix. */
const prefixOf = (id: string) => `walletlake-${id}`
const progressKey = (id: string) => `${prefixOf(id)}:tally`

/** Connects to Redis. Commands wait while the server is unavailable. */
export function connectRedis({ url, password }: QueueAddress): PendingConnection {
  let lastError: string | undefined
  const redis = new Redis(url, {
    ...(password !== undefined && { password }),
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(1_000, 50 * times),
  })
  redis.on('error', (error: Error) => {
    lastError = errorMessage(error)
  })
  return { server: createRedisServer(redis), ready: redis.ping(), lastError: () => lastError }
}

function createRedisServer(redis: Redis): SharedServer {
  return {
    registerRun: async (run) => void (await redis.hset(RUNS_KEY, run.id, JSON.stringify(run))),
    unregisterRun: async (id) => void (await redis.multi().hdel(RUNS_KEY, id).del(progressKey(id)).exec()),
    runs: async () => parseRuns(await redis.hgetall(RUNS_KEY)),
    heartbeat: async (id) => void (await redis.set(workerKey(id), GENERATOR, 'EX', WORKER_TTL_SECONDS)),
    removeWorker: async (id) => void (await redis.del(workerKey(id))),
    liveWorkers: () => listWorkers(redis),
    addProgress: async (id, increments) => {
      const batch = redis.pipeline()
      for (const [name, count] of Object.entries(increments)) batch.hincrby(progressKey(id), name, count)
      await batch.expire(progressKey(id), PROGRESS_TTL_SECONDS).exec()
    },
    readProgress: async (id) => {
      const counts = await redis.hgetall(progressKey(id))
      const numbers = Object.entries(counts).map(([name, count]) => [name, Number(count)] as const)
      return Object.fromEntries(numbers.filter(([, count]) => Number.isSafeInteger(count) && count >= 0))
    },
    rateLimitState: (quota) => openRedisStore(redis, quota),
    backend: createRedisBackend,
    queueLocation: (id, kind) => ({ name: kind, options: { prefix: prefixOf(id), connection: redis } }),
    close: async () => redis.disconnect(),
  }
}

async function listWorkers(redis: Redis): Promise<LiveWorkers> {
  const workers = new Map<string, string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', workerKey('*'), 'COUNT', 1_000)
    const versions = keys.length === 0 ? [] : await redis.mget(keys)
    for (const [at, key] of keys.entries())
      workers.set(key.slice(workerKey('').length), parseAs(version, versions[at]) ?? UNKNOWN_VERSION)
    cursor = next
  } while (cursor !== '0')
  return workers
}
