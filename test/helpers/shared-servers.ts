import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { openRedisStore, type StateStore } from '../../src/cluster/rate-limit/redis-rate-limiter.ts'
import { startRedis } from './start-redis.ts'

export { noRedis } from './start-redis.ts'

/** A Redis server for one test file. */
export type TestServer = {
  readonly url: string
  /** The rate-limit state of a quota. */
  stateStore(quota: string): StateStore
  /** Deletes all data, as after the loss of the server. */
  flush(): Promise<void>
  /** Keys of runs that still exist on the server. */
  remainingKeys(): Promise<string[]>
  /** Kills the server and starts it again. */
  restart(): Promise<void>
  /** A client of the server. */
  readonly redis: Redis
}

/** Starts a server before the tests of a block, and stops it after them. */
export function testServer(): TestServer {
  let server: Awaited<ReturnType<typeof startRedis>>
  let redis: Redis
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  return {
    get url() {
      return server.url
    },
    get redis() {
      return redis
    },
    restart: () => server.restart(),
    stateStore: (quota) => openRedisStore(redis, quota),
    flush: async () => void (await redis.flushall()),
    remainingKeys: async () =>
      (await redis.keys('*')).filter((key) => !/^\{?walletlake:(quota|worker):/.test(key)),
  }
}
