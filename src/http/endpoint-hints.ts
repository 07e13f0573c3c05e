import { APIS, DEFAULT_API } from '../core/model/api.ts'
import { replacementOf } from '../core/model/known-services.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { proxyFor } from '../core/platform/proxy.ts'
import { BASE_URL_SETTING, proxyPasswordFix } from './connection-error.ts'
import type { ApiResponse } from './http-client.ts'

/** Whether a response is a web page, as sent by portals, proxies and wrong base URLs. */
export function isWebPage({ headers, body }: ApiResponse): boolean {
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
