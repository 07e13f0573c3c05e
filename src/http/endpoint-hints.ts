import { proxyFor } from '../core/platform/proxy.ts'
import { BASE_URL_SETTING, proxyPasswordFix } from './connection-error.ts'
import type { ApiResponse } from './http-client.ts'

/** Whether an answer is a page for people, as portals, proxies and wrong addresses give. */
export function isWebPage({ headers, body }: ApiResponse): boolean {
  if (/\bhtml\b/i.test(headers['content-type'] ?? '')) return true
  return /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(body.subarray(0, 200).toString('latin1'))
}

/** What to do about a web page in the place of JSON. */
export const WEB_PAGE_FIX = `Set ${BASE_URL_SETTING} to the data service itself: a web page, a portal or a proxy answers there.`

/** What was asked: the base address, and the path below it without its query. */
export type RequestedUrl = { readonly baseUrl: string; readonly path: string }

/**
 * What to do about a refusal that comes before any good answer: most likely the address is wrong. Undefined where the
 * table's general advice says all.
 */
export function fixForStatus(response: ApiResponse, requested: RequestedUrl): string | undefined {
  const { status, headers } = response
  if (status >= 300 && status < 400) return redirectFix(headers.location, requested)
  if (status === 407) {
    const proxy = proxyFor(new URL(requested.baseUrl))
    return proxy ? proxyPasswordFix(proxy.variable) : 'A proxy in front of the service asks for a password.'
  }
  const isWrongEndpoint = status === 404 || status === 405 || (status === 400 && isWebPage(response))
  if (!isWrongEndpoint) return undefined
  return `Asked was ${requested.baseUrl}${requested.path}. Check the chain, and ${BASE_URL_SETTING}: /v1/… has to be right below it.`
}

function redirectFix(location: string | undefined, { baseUrl, path }: RequestedUrl): string {
  const why = 'Redirects are not followed, so that the key stays with one host'
  if (location === undefined || !URL.canParse(location, baseUrl))
    return `${why}: correct ${BASE_URL_SETTING}.`
  const { origin, pathname } = new URL(location, baseUrl)
  const base = pathname.endsWith(path) ? pathname.slice(0, -path.length) : pathname
  return `${why}: this one leads to ${origin}${base}. If that is the service, set ${BASE_URL_SETTING} to it.`
}
