import { ExportError } from '../core/model/errors.ts'
import type { Client } from './http-client.ts'
import { hasOwnFix } from './http-status-error.ts'

type ErrorContext = {
  /** Names the request, without key and query. */
  description: string
  mayHaveActed: boolean
  hasResponded: boolean
  redactKey: Client['redactKey']
  keyIn: Client['keyIn']
}

/**
 * Adds the request's description to an error. Once the service has responded, the fix of the error table replaces
 * connection advice.
 */
export function withRequestContext(
  error: ExportError,
  { description, mayHaveActed, hasResponded, redactKey, keyIn }: ErrorContext,
): ExportError {
  const fix = fixFor(error, { hasResponded, redactKey, keyIn })
  const { retryAfterMs, status } = error
  // The SyntaxError of JSON.parse quotes the body.
  const cause = error.cause instanceof SyntaxError ? undefined : error.cause
  const suffix = mayHaveActed ? '; it may have taken effect' : ''
  return new ExportError(error.code, redactKey(`${description}: ${error.message}${suffix}`), {
    fix: mayHaveActed ? 'Check whether the request took effect before you send it again.' : fix,
    cause,
    mayHaveActed,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}

function fixFor(
  error: ExportError,
  { hasResponded, redactKey, keyIn }: Pick<ErrorContext, 'hasResponded' | 'redactKey' | 'keyIn'>,
): string {
  if (error.code === 'KEY_REFUSED' && error.fix === error.failure.fix) return KEY_FIXES[keyIn ?? 'none']
  return hasResponded && isConnectionAdvice(error) ? error.failure.fix : redactKey(error.fix)
}

const NEW_KEY = 'set WALLETLAKE_API_KEY (or WALLETLAKE_API_KEY_FILE) to a key that the service accepts'
/** Fixes for a refused key by where it was sent. */
const KEY_FIXES = {
  none: 'No API key was sent: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to the path of a file that holds it.',
  query: `The key was refused: ${NEW_KEY}.`,
  header: `The key was refused: ${NEW_KEY}, and service.apiKeyHeader to the header that it reads.`,
}

/** Whether the fix assumes that the URL, the connection or a proxy is wrong. */
function isConnectionAdvice({ code, status, isPermanent }: ExportError): boolean {
  return code === 'SERVICE_UNAVAILABLE' || isPermanent || (code === 'REQUEST_REFUSED' && !hasOwnFix(status))
}
