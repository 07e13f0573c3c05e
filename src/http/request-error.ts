import { ExportError } from '../core/model/errors.ts'
import type { Client } from './http-client.ts'

type ErrorContext = {
  /** Names the request, without key and query. */
  label: string
  mayHaveActed: boolean
  hasResponded: boolean
  redactKey: Client['redactKey']
}

/**
 * Adds the request's label to an error. Once the API has responded, the fix of the error table replaces advice on the connection.
 */
export function withRequestContext(
  error: ExportError,
  { label, mayHaveActed, hasResponded, redactKey }: ErrorContext,
): ExportError {
  const fix = hasResponded ? error.failure.fix : redactKey(error.fix)
  const { retryAfterMs, status } = error
  // What JSON.parse throws quotes the body.
  const cause = error.cause instanceof SyntaxError ? undefined : error.cause
  const suffix = mayHaveActed ? '; it may have been carried out' : ''
  return new ExportError(error.code, redactKey(`${label}: ${error.message}${suffix}`), {
    fix: mayHaveActed ? 'See whether the service did it before asking again.' : fix,
    cause,
    mayHaveActed,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}
