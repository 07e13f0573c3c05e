import { service } from './faulty-run.ts'
import type { ReceivedRequest } from './loopback.ts'

/** Repeats a request with changed parameters; undefined removes a parameter. */
export function requestAgain({ path, query }: ReceivedRequest, changes: Record<string, string | undefined>) {
  const other = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) other.delete(name)
    else other.set(name, value)
  }
  return service.handle({ method: 'GET', url: `${path}?${other}`, headers: {} })
}
