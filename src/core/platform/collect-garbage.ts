import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Frees what is not referenced any more in this thread. V8 lets garbage grow to several times the size of what is in use, which
 * for bodies of 30 MB is hundreds of megabytes. It takes tens of milliseconds: call it after large bodies only.
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
