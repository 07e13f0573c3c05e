import { ExportError } from '../../core/model/errors.ts'
import { proxyFor } from '../../core/platform/proxy.ts'
import { fetchWith } from '../../http/fetch-url.ts'

/** Default timeout of one request, in milliseconds. */
const SEND_TIMEOUT_MS = 5_000

export type MonitoringRequest = {
  url: URL
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** @default 5000 */
  timeoutMs?: number
}

/**
 * Sends one request to monitoring. Never rejects: returns the reason if the request fails, or undefined on success. The
 * reason contains neither the URL nor a header, because both may be secrets.
 */
export async function sendHttp({
  url,
  timeoutMs = SEND_TIMEOUT_MS,
  ...init
}: MonitoringRequest): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const options = { ...init, redirect: 'manual', signal, idleMs: timeoutMs } as const
    return await fetchWith(url, options, async ({ ok, status }) =>
      ok ? undefined : `the response had status ${status}`,
    )
  } catch (error) {
    if (error instanceof ExportError) return error.message
    const proxy = proxyFor(url)
    const route = proxy === undefined ? '' : ` through the proxy ${proxy.host} of ${proxy.variable}`
    return failureReason(error, timeoutMs) + route
  }
}

function failureReason(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no response within ${timeoutMs / 1000} s`
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined
  return typeof cause?.code === 'string' ? cause.code : 'the request could not be made'
}

/** Parses an http or https URL; undefined for any other text. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined
}

/** Returns the URL with `path` appended to its path. The query is retained. */
export function appendPath(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}

/**
 * Pings a monitoring service such as healthchecks.io: `<url>/start` at the start of a run, `<url>` on exit code 0, and
 * `<url>/<exit code>` otherwise. Returns the reason if the ping fails, or undefined on success.
 */
export function ping(url: URL, event: 'start' | number): Promise<string | undefined> {
  return sendHttp({ url: event === 0 ? url : appendPath(url, String(event)), method: 'GET' })
}
