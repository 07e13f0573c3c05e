import { ExportError } from '../../core/model/errors.ts'
import { errorMessage } from './error-message.ts'

/**
 * Converts an error that Redis answers to QUEUE_UNAVAILABLE with a fix; returns any other error as it is. Another program
 * may use the same keys, and the server may be full.
 */
export function toQueueError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown.name !== 'ReplyError') return thrown
  const message = errorMessage(thrown).replace(/\s+/g, ' ').slice(0, 500)
  return new ExportError('QUEUE_UNAVAILABLE', `the queue cannot be used: ${message}`, {
    cause: thrown,
    fix: queueFix(message),
  })
}

/** What to do about an error of Redis; undefined if the default advice applies. */
export function queueFix(message: string): string | undefined {
  return FIXES.find(({ pattern }) => pattern.test(message))?.fix
}

const FIXES: readonly { pattern: RegExp; fix: string }[] = [
  {
    pattern: /\b(NOAUTH|WRONGPASS|NOPERM)\b/,
    fix: 'Set WALLETLAKE_REDIS_PASSWORD, or WALLETLAKE_REDIS_PASSWORD_FILE; the user name of an ACL belongs in the URL.',
  },
  {
    pattern: /certificate/i,
    fix: 'Set NODE_EXTRA_CA_CERTS to a file with the CA certificate of the server.',
  },
  {
    pattern: /\bWRONGTYPE\b/,
    fix: 'Another program has replaced a key that begins with walletlake. Name a database of your own, such as redis://host:6379/1, or remove these keys, then run the same command again.',
  },
  {
    pattern: /\bOOM\b|\bout of memory\b/i,
    fix: 'Redis has reached its maxmemory. Raise it or free memory there, then run the same command again: it resumes.',
  },
]
