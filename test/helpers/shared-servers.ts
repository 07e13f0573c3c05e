import { Redis } from 'ioredis'
import { redisSharedState } from '../../src/cluster/rate-limit/redis-shared-state.ts'
import type { SharedRateLimitState } from '../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { startRedis } from './start-redis.ts'

export { noRedis } from './start-redis.ts'

/** A Redis server for one test file. */
export type TestServer = {
  readonly url: string
  /** The shared rate-limit state of a quota, with the server's clock unless another is given. */
  book(quota: string, clock?: () => number, knownPerMs?: number): SharedRateLimitState
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
    book: (quota, clock, knownPerMs) =>
      redisSharedState(redis, quota, { ...(clock && { clock }), knownPerMs }),
    flush: async () => void (await redis.flushall()),
    remainingKeys: async () =>
      (await redis.keys('*')).filter((key) => !/^\{?walletlake:(quota|worker):/.test(key)),
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
}
