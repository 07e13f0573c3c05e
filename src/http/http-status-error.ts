import { ExportError } from '../core/model/errors.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'
import { fixForStatus, isWebPage, type RequestedUrl } from './endpoint-hints.ts'
import type { ApiResponse, Client } from './http-client.ts'
import { isRetryableStatus, readRemaining, readRetryAfter } from './read-outcome.ts'

/** Creates the error for a response whose status is not 2xx. */
export function httpStatusError(
  response: ApiResponse,
  { redactKey }: Client,
  requested: RequestedUrl,
): ExportError {
  const { status, headers, body } = response
  const retryAfterMs = readRetryAfter(headers)
  const message = serviceMessage(body, redactKey)
  const origin = status === 407 ? 'the proxy' : 'the service'
  const what = `${origin} answered ${status}${message === '' ? '' : `: ${message}`}`
  const details = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  if (status === 403 && isQuotaError(response, message))
    return new ExportError('RATE_LIMITED', what, { ...details, fix: quotaFix(retryAfterMs) })
  if (status === 403 && isWebPage(response))
    return new ExportError('REQUEST_REFUSED', `${what} with a web page`, { ...details, fix: FIREWALL_FIX })
  if (status === 401 || status === 403)
    return new ExportError('KEY_REFUSED', what, {
      ...details,
      fix: status === 403 && message !== '' && !KEY_MESSAGE.test(message) ? FORBIDDEN_FIX : undefined,
    })
  if (isRetryableStatus(status)) return new ExportError('SERVICE_UNAVAILABLE', what, details)
  if (status === 429) return new ExportError('RATE_LIMITED', what, details)
  const fix = STATUS_FIXES[status] ?? fixForStatus(response, requested)
  return new ExportError('REQUEST_REFUSED', what, { ...details, fix })
}

/** An API states in JSON that it refuses a key. */
const FIREWALL_FIX =
  'A firewall or proxy in front of the service refuses requests from this network. Try again from another one, or ask the provider of the service.'

/** Whether the message of a 403 is about the key. */
const KEY_MESSAGE =
  /\bkeys?\b|\b(api|access|bearer)[ _-]?(key|token)|\bauth|\bcredential|\bforbidden\b|\bunauthori[sz]ed\b|\b(log|sign)[ -]?in\b/i

const FORBIDDEN_FIX =
  'The service forbids this request, and its message says why: change the request, or use a key that may send it.'

/** Fixes for statuses that mean the same in any context. */
const STATUS_FIXES: Readonly<Record<number, string>> = {
  402: "Check the plan, credits and invoices of the key's account with the provider of the service, then run the same command again: it resumes.",
  451: 'The service refuses this request for legal reasons, possibly only in this country. Ask its provider; neither another key nor a retry helps.',
}

/** Whether the fix of a status applies even if the service has responded to other requests. */
export const hasOwnFix = (status: number | undefined): boolean =>
  status !== undefined && STATUS_FIXES[status] !== undefined

/** Whether a 403 concerns a quota rather than the key, according to its message or headers. */
function isQuotaError({ headers }: ApiResponse, message: string): boolean {
  return QUOTA_MESSAGE.test(message) || headers['retry-after'] !== undefined || readRemaining(headers) === 0
}

const QUOTA_MESSAGE =
  /\bquota|rate.?limit|too many requests|throttl|compute units|\bcredits?\b|\b(daily|monthly|request|usage|call)s? (limit|allowance)|\blimits? (is |was |has been )?(exceeded|reached|hit)|exceeded .*\b(limit|allowance|plan)/i

function quotaFix(retryAfterMs: number | undefined): string {
  const when =
    retryAfterMs === undefined
      ? 'once the quota is renewed'
      : `after ${formatMinuteCeil(Date.now() + retryAfterMs)}`
  return `The quota of this key is used up. Run the same command again ${when}: it resumes. Or raise the quota with the provider.`
}

/**
 * The `message` of an error body (a string or a list of strings), shortened, without control characters,
 * queries and the key.
 */
function serviceMessage(body: Buffer, redactKey: Client['redactKey']): string {
  if (body.length > MAX_ERROR_BYTES) return ''
  try {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: unknown }
    const text = Array.isArray(message) ? message.join('; ') : message
    if (typeof text !== 'string') return ''
    return redactKey(text)
      .replace(/[^\x20-\x7e…]+/g, ' ')
      .replace(/\?\S+/g, '?…')
      .slice(0, 300)
  } catch {
    return ''
  }
}

const MAX_ERROR_BYTES = 100_000
