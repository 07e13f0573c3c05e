import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Runs the garbage collector of this thread. V8 lets garbage grow to several times the live heap, which is
 * hundreds of megabytes with bodies of 30 MB. A collection takes tens of milliseconds, so call it only after
 * large bodies.
 */
export function collectGarbage(): void {
  collect ??= exposeCollector()
  collect()
}

function exposeCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  return typeof gc === 'function' ? () => void gc() : () => undefined
}
