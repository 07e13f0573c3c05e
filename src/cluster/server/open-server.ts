import { ExportError } from '../../core/model/errors.ts'
import { errorMessage } from './error-message.ts'
import type { QueueAddress, SharedServer } from './shared-server.ts'

/** How Redis refuses a password, or the lack of one. */
const AUTH_ERROR = /\b(NOAUTH|WRONGPASS|NOPERM)\b/

/** A server that does not answer within this is not there. */
const CONNECT_TIMEOUT_MS = 10_000

/** Redis, and Redis over TLS. */
const PROTOCOLS = ['redis:', 'rediss:']

/**
 * Connects to the server at an address such as `redis://host:6379`; later it waits for a server that is away. Throws USAGE
 * for another kind of address, QUEUE_UNAVAILABLE where nothing answers.
 */
export async function openServer(address: QueueAddress): Promise<SharedServer> {
  const url = URL.canParse(address.url) ? new URL(address.url) : undefined
  if (url === undefined || !PROTOCOLS.includes(url.protocol))
    throw new ExportError('USAGE', '--queue takes the address of a Redis server', {
      fix: 'Use --queue redis://host:6379, or rediss://host:6379 with TLS.',
    })
  const { connectRedis } = await import('./redis-server.ts')
  const { server, ready, lastError } = connectRedis(address)
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(lastError() ?? 'no answer')), CONNECT_TIMEOUT_MS)
  })
  try {
    await Promise.race([ready, timeout])
    return server
  } catch (cause) {
    void server.close().catch(() => undefined)
    throw queueUnavailable(url.host, cause)
  } finally {
    clearTimeout(timer)
  }
}

/** Names the host only: user and password are never shown. */
function queueUnavailable(host: string, cause: unknown): ExportError {
  const message = errorMessage(cause).replace(/\s+/g, ' ')
  return new ExportError('QUEUE_UNAVAILABLE', `the queue at ${host} cannot be used: ${message}`, {
    cause,
    fix: fixOf(message),
  })
}

function fixOf(message: string): string | undefined {
  if (AUTH_ERROR.test(message))
    return 'Set WALLETLAKE_REDIS_PASSWORD, or WALLETLAKE_REDIS_PASSWORD_FILE; the user of an ACL stands in the URL.'
  if (/certificate/i.test(message))
    return 'Set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority that signed that of the server.'
  return undefined
}
