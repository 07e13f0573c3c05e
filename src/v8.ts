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

/**
 * Has the V8 of Node 20 wait longer before it compiles a function to fast code (by default after 66 KB of bytecode, run or
 * jumped back over). A run of a few seconds otherwise spends an eighth of its processor time on compiling what changes
 * its shape once more; a long one does not notice. Later ones have a compiler between the two, and no such flag.
 */
export function compileLate(): void {
  if (process.versions.v8.startsWith('11.3.')) setFlagsFromString('--interrupt-budget=500000')
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Collects garbage and gives what memory it was in back to the system; for a moment that takes what is in use twice. */
export function compactHeap(): void {
  setFlagsFromString('--compact-on-every-full-gc')
  collectGarbage()
  setFlagsFromString('--no-compact-on-every-full-gc')
}
