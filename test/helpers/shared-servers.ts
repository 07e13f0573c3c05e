import { Redis } from 'ioredis'
import { redisBook } from '../../src/cluster/rate-limit/redis-shared-state.ts'
import type { Book } from '../../src/cluster/rate-limit/shared-rate-limit-state.ts'
import { startRedis } from './start-redis.ts'

export { noRedis } from './start-redis.ts'

/** A Redis server of the test's own. */
export type TestServer = {
  readonly url: string
  /** The book of a quota; by the server's clock unless another is given. */
  book(quota: string, clock?: () => number): Book
  /** Forgets everything, as a server that was lost. */
  empty(): Promise<void>
  /** The keys that the server still holds for runs. */
  leftovers(): Promise<string[]>
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
