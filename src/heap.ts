import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Has this thread collect garbage once the heap has doubled. V8 by itself lets a heap grow to some 200 MB before it
 * looks for the first time, and to several times what is in use from then on: pages and rows live short, so that most
 * of it would be garbage. The looking costs about a tenth of a long run's processor time.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=100')
  collectGarbage()
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
