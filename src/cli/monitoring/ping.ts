import { send, under } from './send-http.ts'

/**
 * Tells a watcher such as healthchecks.io of a run: `<url>/start` when it begins, `<url>` when it ends with 0, and
 * `<url>/<exit code>` otherwise. Gives why the ping did not arrive, undefined where it did.
 */
export function ping(url: URL, moment: 'start' | number): Promise<string | undefined> {
  return send({ url: moment === 0 ? url : under(url, String(moment)), method: 'GET' })
}
