import { createHash } from 'node:crypto'
import { REDIS_PACE } from './redis-pace.ts'
import { SHARED_PACE, type SharedQuota, type Slot } from './shared-quota.ts'

/** What is needed of a Redis client; it waits for a server that is away. */
export type RedisScripts = {
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>
}

/** What a quota belongs to: its name holds a hash of both, never the key itself. */
export type QuotaOwner = { baseUrl: string; apiKey: string | undefined }

/** The name under which the book of a service and key is kept. */
export function quotaName({ baseUrl, apiKey = '' }: QuotaOwner): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/** The book of a quota on Redis: one script, by the clock of the server. */
export function redisQuota(redis: RedisScripts, name: string): SharedQuota {
  const call = (...args: (string | number)[]) => redis.eval(REDIS_PACE, 2, ...keysOf(name), PACE, ...args)
  return {
    take: async (most) => readSlots((await call('take', most)) as string[]),
    hold: async ({ slot, waitMs }) => {
      await call('hold', slot?.stretch ?? -1, slot?.nth ?? 0, slot?.at ?? 0, waitMs ?? -1)
    },
  }
}

/** The book, and when requests left lately; in one slot of a cluster. */
const keysOf = (name: string) => [`{${name}}`, `{${name}}:departures`]

const PACE = JSON.stringify(SHARED_PACE)

function readSlots([pausedMs = '0', againMs = '0', stretch = '0', ...rest]: readonly string[]) {
  const slots: Slot[] = []
  for (let at = 0; at + 2 < rest.length; at += 3) {
    const [delayMs, nth, leavesAt] = [Number(rest[at]), Number(rest[at + 1]), Number(rest[at + 2])]
    slots.push({ delayMs, nth, at: leavesAt, stretch: Number(stretch) })
  }
  return { slots, againMs: Number(againMs), pausedMs: Number(pausedMs) }
}

/** What is known of a quota: requests a second (undefined: nothing yet), and for how long nobody may ask. */
export type QuotaState = { perSecond: number | undefined; pausedMs: number }

/** Reads the book without taking a slot. */
export async function readQuota(redis: RedisScripts, name: string): Promise<QuotaState> {
  const [perMs = '0', pausedMs = '0'] = (await redis.eval(
    REDIS_PACE,
    2,
    ...keysOf(name),
    PACE,
    'look',
  )) as string[]
  const rate = Number(perMs) * 1_000
  return { perSecond: rate > 0 ? rate : undefined, pausedMs: Number(pausedMs) }
}
