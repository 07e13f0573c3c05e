import type { Redis } from 'ioredis'
import type { Figures } from '../core/figures.ts'

/** What all workers of a run have counted; for people: nothing depends on it. */
export type Tally = Pick<Figures, (typeof COUNTED)[number]>

const COUNTED = ['requests', 'refusals', 'retries', 'bytes', 'pages', 'items'] as const
/** Counts that nobody touches for so long are forgotten. */
const FORGET_SECONDS = 604_800

const keyOf = (id: string) => `walletlake-${id}:tally`

export async function readTally(redis: Redis, id: string): Promise<Tally> {
  const counts = await redis.hmget(keyOf(id), ...COUNTED)
  const entries = COUNTED.map((name, at) => [name, Number(counts[at] ?? 0)] as const)
  return Object.fromEntries(entries) as Tally
}

/** Tells what a worker has counted since it last told; `told` changes in place. */
export async function addToTally(redis: Redis, id: string, { figures, told }: Telling): Promise<void> {
  const batch = redis.pipeline()
  for (const name of COUNTED) {
    const more = figures[name] - (told[name] ?? 0)
    if (more > 0) batch.hincrby(keyOf(id), name, more)
    told[name] = figures[name]
  }
  if (batch.length > 0) await batch.expire(keyOf(id), FORGET_SECONDS).exec()
}

export type Telling = { figures: Figures; told: Partial<Tally> }

export async function forgetTally(redis: Redis, id: string): Promise<void> {
  await redis.del(keyOf(id))
}
