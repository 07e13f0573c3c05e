import { service } from './faulty-run.ts'
import type { Asked } from './loopback.ts'

/** Asks the service the same with other parameters; undefined leaves one out. */
export function reask({ path, query }: Asked, given: Record<string, string | undefined>) {
  const other = new URLSearchParams(query)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) other.delete(name)
    else other.set(name, value)
  }
  return service.answer({ method: 'GET', url: `${path}?${other}`, headers: {} })
}
