import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { STATE_VERSION } from './shared-limiter-state.ts'

/** The scope of a quota. Its key in Redis contains a hash of both fields, never the API key itself. */
export type QuotaScope = { baseUrl: string; apiKey: string | undefined }

/** The Redis key of the quota of a service and key. */
export function quotaKey({ baseUrl, apiKey = '' }: QuotaScope): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey]))
    .digest('hex')
  return `walletlake:quota:${hash.slice(0, 32)}`
}

/**
 * The Redis key of the state of a quota. It contains the version of the format, so that programs of different
 * versions never replace each other's state: each treats the other as another client of the quota.
 */
export const stateKey = (quota: string) => `${quota}:v${STATE_VERSION}`

/** Holds the JSON state of a quota. Its content is defined by shared-limiter-state.ts. */
export type StateStore = {
  /** The state ('' if there is none), its revision, and the time by the store's clock, in milliseconds. */
  read(): Promise<{ json: string; revision: Buffer; now: number }>
  /**
   * Compare-and-set: stores a state if the stored one still has this revision.
   *
   * @returns whether it was stored
   */
  replace(revision: Buffer, json: string): Promise<boolean>
}

/** A stored value starts with its random revision: this many hexadecimal digits. */
const REVISION_LENGTH = 16
/** Larger values are not states; they are not read completely. */
const MAX_STATE_BYTES = 262_144
/** A state expires after this time (ms) without a change. */
const TTL_MS = 86_400_000

/**
 * Arguments: the previous revision and the next value. A command that the client repeats after a lost
 * connection may have been executed before: it succeeds again. A value of another type is overwritten.
 */
const COMPARE_AND_SET = `
local revision = redis.pcall('GETRANGE', KEYS[1], 0, ${REVISION_LENGTH - 1})
if type(revision) == 'table' then revision = '' end
if revision == string.sub(ARGV[2], 1, ${REVISION_LENGTH}) then return 1 end
if revision ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ${TTL_MS})
return 1
`

/**
 * Opens the store of a quota in Redis. It uses the clock of Redis, so the clocks of its clients may differ.
 * Commands wait while Redis is unavailable.
 */
export function openRedisStore(redis: Redis, quota: string): StateStore {
  const key = stateKey(quota)
  return {
    read: async () => {
      const results = await redis.pipeline().time().getrangeBuffer(key, 0, MAX_STATE_BYTES).exec()
      const [[timeError, time] = [], [error, stored] = []] = results ?? []
      if (timeError || !Array.isArray(time)) throw timeError ?? new Error('Redis sent no time')
      if (error && !error.message.startsWith('WRONGTYPE')) throw error
      const value = Buffer.isBuffer(stored) ? stored : Buffer.alloc(0)
      const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000
      const [revision, json] = [value.subarray(0, REVISION_LENGTH), value.subarray(REVISION_LENGTH)]
      return { json: json.toString(), revision, now }
    },
    replace: async (revision, json) => {
      const next = randomBytes(REVISION_LENGTH / 2).toString('hex') + json
      return (await redis.eval(COMPARE_AND_SET, 1, key, revision, next)) === 1
    },
  }
}
