import { Redis } from 'ioredis'
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
  stop(): Promise<void>
}

export async function startTestServer(): Promise<TestServer> {
  const server = await startRedis()
  const redis = new Redis(server.url)
  return {
    url: server.url,
    restart: server.restart,
    stateStore: (quota) => openRedisStore(redis, quota),
    flush: async () => void (await redis.flushall()),
    remainingKeys: async () =>
      (await redis.keys('*')).filter((key) => !/^\{?walletlake:(quota|worker):/.test(key)),
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
}
