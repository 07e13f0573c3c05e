import { proxyFor } from '../core/platform/proxy.ts'
import { BASE_URL_SETTING, proxyPasswordFix } from './connection-error.ts'
import type { ApiResponse } from './http-client.ts'

/** Whether a response is a web page, as sent by portals, proxies and wrong base URLs. */
export function isWebPage({ headers, body }: ApiResponse): boolean {
  if (/\bhtml\b/i.test(headers['content-type'] ?? '')) return true
  return /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(body.subarray(0, 200).toString('latin1'))
}

/** The fix if a web page arrives instead of JSON. */
export const WEB_PAGE_FIX = `Set ${BASE_URL_SETTING} to the data service itself: a website, a portal or a proxy responds at this URL.`

/** The URL of a request: the base URL and the path below it, without the query. */
export type RequestedUrl = { readonly baseUrl: string; readonly path: string }

/**
 * The fix for an error status that arrives before any successful response: most likely the base URL is wrong.
 * Undefined if the fix of the error table suffices.
 */
export function fixForStatus(response: ApiResponse, requested: RequestedUrl): string | undefined {
  const { status, headers } = response
  if (status >= 300 && status < 400) return redirectFix(headers.location, requested)
  if (status === 407) {
    const proxy = proxyFor(new URL(requested.baseUrl))
    return proxy ? proxyPasswordFix(proxy.variable) : 'A proxy in front of the service requires a password.'
  }
  const isWrongEndpoint = status === 404 || status === 405 || (status === 400 && isWebPage(response))
  if (!isWrongEndpoint) return undefined
  return `The request went to ${requested.baseUrl}${requested.path}. Check the chain, and ${BASE_URL_SETTING}${requested.path.startsWith('/v1/') ? ': /v1/… must be directly below it' : ''}. Or the service has another API: service.api names it (--api).`
}

function redirectFix(location: string | undefined, { baseUrl, path }: RequestedUrl): string {
  const why = 'Redirects are not followed, so that the key is sent to one host only'
  if (location === undefined || !URL.canParse(location, baseUrl))
    return `${why}: correct ${BASE_URL_SETTING}.`
  const { origin, pathname } = new URL(location, baseUrl)
  const base = pathname.endsWith(path) ? pathname.slice(0, -path.length) : pathname
  return `${why}: this one points to ${origin}${base}. If that is the service, set ${BASE_URL_SETTING} to it.`
}
