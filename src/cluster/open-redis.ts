import { Redis } from 'ioredis'
import { ExportError } from '../core/errors.ts'

/** A server that does not answer within this is not there. */
const CONNECT_MS = 10_000

/** Connects to the Redis at an address such as `redis://host:6379`; later it waits for a server that is away. */
export async function openRedis(url: string): Promise<Redis> {
  const host = hostOf(url)
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(1_000, 50 * times),
  })
  redis.on('error', () => undefined)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), CONNECT_MS)
  })
  try {
    await Promise.race([redis.ping(), late])
    return redis
  } catch (cause) {
    redis.disconnect()
    const what = cause instanceof Error ? cause.message.replace(/\s+/g, ' ') : 'no answer'
    throw new ExportError('QUEUE_UNAVAILABLE', `the queue at ${host} cannot be used: ${what}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** The address's host, which may be shown; user and password never are. Throws USAGE for what is no address of Redis. */
function hostOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'redis:' || url?.protocol === 'rediss:') return url.host
  const isPostgres = url?.protocol.startsWith('postgres') === true
  throw new ExportError(
    'USAGE',
    isPostgres ? 'a queue in PostgreSQL is not supported' : '--queue takes an address of Redis',
    { fix: 'Give --queue redis://host:6379 (rediss:// with TLS).' },
  )
}
