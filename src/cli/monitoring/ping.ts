import { appendPath, sendHttp } from './send-http.ts'

/**
 * Pings a monitoring service such as healthchecks.io: `<url>/start` at the start of a run, `<url>` on exit code 0, and
 * `<url>/<exit code>` otherwise. Returns the reason if the ping fails, or undefined on success.
 */
export function ping(url: URL, event: 'start' | number): Promise<string | undefined> {
  return sendHttp({ url: event === 0 ? url : appendPath(url, String(event)), method: 'GET' })
}
