import { ExportError } from '../../core/errors.ts'
import { wordsOf } from './fault.ts'
import type { Connecting, SharedServer } from './shared-server.ts'

/** A server that does not answer within this is not there. */
const CONNECT_MS = 10_000

const connectRedis = async (url: string) => (await import('./redis-server.ts')).connectRedis(url)
const connectPostgres = async (url: string) => (await import('./postgres-server.ts')).connectPostgres(url)

/** How the server is reached at an address, by its protocol. */
const KINDS: { [protocol: string]: (url: string) => Promise<Connecting> } = {
  'redis:': connectRedis,
  'rediss:': connectRedis,
  'postgres:': connectPostgres,
  'postgresql:': connectPostgres,
}

/**
 * Connects to the server at an address such as `redis://host:6379`; later it waits for a server that is away. Throws USAGE
 * for another kind of address, QUEUE_UNAVAILABLE where nothing answers.
 */
export async function openServer(text: string): Promise<SharedServer> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const connect = url && KINDS[url.protocol]
  if (url === undefined || connect === undefined)
    throw new ExportError('USAGE', '--queue takes an address of Redis or PostgreSQL', {
      fix: 'Give --queue redis://host:6379 (rediss:// with TLS) or --queue postgres://user@host:5432/database.',
    })
  const { server, ready, trouble } = await connect(text)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(trouble() ?? 'no answer')), CONNECT_MS)
  })
  try {
    await Promise.race([ready, late])
    return server
  } catch (cause) {
    void server.close().catch(() => undefined)
    throw unavailable(url.host, cause)
  } finally {
    clearTimeout(timer)
  }
}

/** Names the host only: user and password are never shown. */
function unavailable(host: string, cause: unknown): ExportError {
  const what = wordsOf(cause).replace(/\s+/g, ' ')
  return new ExportError('QUEUE_UNAVAILABLE', `the queue at ${host} cannot be used: ${what}`, { cause })
}
