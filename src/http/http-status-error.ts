import { APIS, DEFAULT_API } from '../core/model/api.ts'
import { ExportError } from '../core/model/errors.ts'
import { replacementOf } from '../core/model/known-services.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { proxyFor } from '../core/platform/proxy.ts'
import { BASE_URL_SETTING, proxyPasswordFix } from './connection-error.ts'
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

/** Whether a response is a web page, as sent by portals, proxies and wrong base URLs. */
function isWebPage({ headers, body }: ApiResponse): boolean {
  if (/\bhtml\b/i.test(headers['content-type'] ?? '')) return true
  return /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(body.subarray(0, 200).toString('latin1'))
}

/** The URL of a request: the base URL and the path below it, without the query. */
export type RequestedUrl = { readonly baseUrl: string; readonly path: string }

/** Describes a body that is not what the interface defines, with the fix; undefined if nothing is known about it. */
export function explainBody(
  response: ApiResponse,
  { baseUrl, path }: RequestedUrl,
): { what: string; fix: string } | undefined {
  const from = `was returned by ${baseUrl}${path}`
  if (isWebPage(response))
    return {
      what: `a web page ${from}`,
      fix: replacementFix(baseUrl) ?? `${WEB_PAGE_FIX}${isInterfacePath(path) ? OTHER_API_FIX : ''}`,
    }
  if (isInterfacePath(path) && isExplorerAnswer(response))
    return { what: `an answer of an explorer ${from}`, fix: EXPLORER_FIX }
  return undefined
}

/** The fix for a host without a service that is known to have another address; undefined for other hosts. */
function replacementFix(baseUrl: string): string | undefined {
  const replacement = replacementOf(baseUrl)
  return replacement && `${replacement.reason}: set ${BASE_URL_SETTING} to ${replacement.baseUrl}.`
}

/** Whether a path belongs to the interface of data services, not to the API of an explorer. */
const isInterfacePath = (path: string): boolean => path.startsWith('/v1/')

/** Whether a response has the shape of refusals of Etherscan and its copies: an object of status, message and result. */
function isExplorerAnswer({ body }: ApiResponse): boolean {
  if (body.length > MAX_REFUSAL_BYTES) return false
  const parsed = parseJson(body.toString('utf8'))
  if (typeof parsed !== 'object' || parsed === null) return false
  return 'status' in parsed && 'message' in parsed && 'result' in parsed
}

const MAX_REFUSAL_BYTES = 2_000

const EXPLORER_APIS = APIS.filter((api) => api !== DEFAULT_API).join(' or ')
const WEB_PAGE_FIX = `Set ${BASE_URL_SETTING} to the data service itself: a website, a portal or a proxy responds at this URL.`
const EXPLORER_FIX = `The base URL is that of an explorer: set service.api (WALLETLAKE_API or --api) to ${EXPLORER_APIS}.`
const OTHER_API_FIX = ` If it is an explorer, set service.api (WALLETLAKE_API or --api) to ${EXPLORER_APIS}.`

/**
 * The fix for an error status that arrives before any successful response: most likely the base URL is wrong.
 * Undefined if the fix of the error table suffices.
 */
export function fixForStatus(response: ApiResponse, requested: RequestedUrl): string | undefined {
  const { status, headers } = response
  if (status !== 407) {
    const replaced = replacementFix(requested.baseUrl)
    if (replaced !== undefined) return replaced
  }
  if (status >= 300 && status < 400) return redirectFix(headers.location, requested)
  if (status === 407) {
    const proxy = proxyFor(new URL(requested.baseUrl))
    return proxy ? proxyPasswordFix(proxy.variable) : 'A proxy in front of the service requires a password.'
  }
  const isWrongEndpoint = status === 404 || status === 405 || (status === 400 && isWebPage(response))
  if (!isWrongEndpoint) return undefined
  const { baseUrl, path } = requested
  if (!isInterfacePath(path))
    return `The request went to ${baseUrl}${path}. Check the chain, and ${BASE_URL_SETTING}. Or the service has another API: service.api names it (--api).`
  if (isExplorerAnswer(response)) return EXPLORER_FIX
  return `The request went to ${baseUrl}${path}. Check the chain, and ${BASE_URL_SETTING}: /v1/… must be directly below it.${OTHER_API_FIX}`
}

function redirectFix(location: string | undefined, { baseUrl, path }: RequestedUrl): string {
  const why = 'Redirects are not followed, so that the key is sent to one host only'
  if (location === undefined || !URL.canParse(location, baseUrl))
    return `${why}: correct ${BASE_URL_SETTING}.`
  const { origin, pathname } = new URL(location, baseUrl)
  const base = pathname.endsWith(path) ? pathname.slice(0, -path.length) : pathname
  return `${why}: this one points to ${origin}${base}. If that is the service, set ${BASE_URL_SETTING} to it.`
}
