import { ExportError } from '../../core/model/errors.ts'
import { errorMessage } from './error-message.ts'
import { queueFix } from './queue-error.ts'
import type { QueueAddress, SharedServer } from './shared-server.ts'

/** Connect timeout in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000

/** Redis without and with TLS. */
const PROTOCOLS = ['redis:', 'rediss:']

/**
 * Connects to a Redis server. Later commands wait while the server is unavailable.
 *
 * @param address such as `redis://host:6379`
 * @throws USAGE for another kind of URL; QUEUE_UNAVAILABLE if the server does not respond
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
    timer = setTimeout(() => reject(new Error(lastError() ?? 'no response')), CONNECT_TIMEOUT_MS)
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

/** The error contains the host only, never user and password. */
function queueUnavailable(host: string, cause: unknown): ExportError {
  const message = errorMessage(cause).replace(/\s+/g, ' ')
  return new ExportError('QUEUE_UNAVAILABLE', `the queue at ${host} cannot be used: ${message}`, {
    cause,
    fix: queueFix(message),
  })
}
