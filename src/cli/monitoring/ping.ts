import { appendPath, sendHttp } from './send-http.ts'

/**
 * Tells a watcher such as healthchecks.io of a run: `<url>/start` when it begins, `<url>` when it ends with 0, and
 * `<url>/<exit code>` otherwise. Gives why the ping did not arrive, undefined where it did.
 */
export function ping(url: URL, event: 'start' | number): Promise<string | undefined> {
  return sendHttp({ url: event === 0 ? url : appendPath(url, String(event)), method: 'GET' })
}
