import type { Redis } from 'ioredis'

/** Who has not said for so long that it is alive is not: its units are done by others. */
const ALIVE_SECONDS = 6

const keyOf = (id: string) => `walletlake:worker:${id}`

/** Says that a worker is alive; to be said again and again. */
export async function sayAlive(redis: Redis, id: string): Promise<void> {
  await redis.set(keyOf(id), '1', 'EX', ALIVE_SECONDS)
}

export async function sayGone(redis: Redis, id: string): Promise<void> {
  await redis.del(keyOf(id))
}

/** The workers that are alive. */
export async function listWorkers(redis: Redis): Promise<Set<string>> {
  const workers = new Set<string>()
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', keyOf('*'), 'COUNT', 1_000)
    for (const key of keys) workers.add(key.slice(keyOf('').length))
    cursor = next
  } while (cursor !== '0')
  return workers
}
