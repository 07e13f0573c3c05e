import { Redis } from 'ioredis'
import { redisSharedState } from '../../src/cluster/rate-limit/redis-shared-state.ts'
import type { SharedRateLimitState } from '../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { startRedis } from './start-redis.ts'

export { noRedis } from './start-redis.ts'

/** A Redis server of the test's own. */
export type TestServer = {
  readonly url: string
  /** The book of a quota; by the server's clock unless another is given. */
  book(quota: string, clock?: () => number): SharedRateLimitState
  /** Forgets everything, as a server that was lost. */
  flush(): Promise<void>
  /** The keys that the server still holds for runs. */
  remainingKeys(): Promise<string[]>
  /** Ends as in a crash, and is there again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startTestServer(): Promise<TestServer> {
  const server = await startRedis()
  const redis = new Redis(server.url)
  return {
    url: server.url,
    restart: server.restart,
    book: (quota, clock) => redisSharedState(redis, quota, clock),
    flush: async () => void (await redis.flushall()),
    remainingKeys: async () =>
      (await redis.keys('*')).filter((key) => !/^\{?walletlake:(quota|worker):/.test(key)),
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
}
