import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Has this thread collect garbage once the heap is four times what is in use. V8 by itself lets a heap grow to some 200 MB
 * before it looks for the first time: pages and rows live short, so that most of it would be garbage.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=300')
  collectGarbage()
}

/**
 * Has all threads collect garbage once the heap has doubled, which costs a tenth of the processor time: for runs so long
 * that what is in use grows too.
 */
export function keepHeapSmaller(): void {
  setFlagsFromString('--heap-growing-percent=100')
}

/**
 * Has the V8 of Node 20 wait longer before it compiles a function to fast code (by default after 66 KB of bytecode, run or
 * jumped back over). A run of a few seconds otherwise spends an eighth of its processor time on compiling what changes
 * its shape once more; a long one does not notice. Later ones have a compiler between the two, and no such flag.
 */
export function compileLate(): void {
  if (process.versions.v8.startsWith('11.3.')) setFlagsFromString('--interrupt-budget=500000')
}

/**
 * Has WebAssembly compiled quickly and no better. The HTTP parser has a function so long that V8 would turn to its slow
 * compiler at the first answer, which waits for it: 0.15 s and, for that moment, 40 MB. It computes little.
 */
export function compileWasmQuickly(): void {
  setFlagsFromString('--liftoff-only')
  setFlagsFromString('--no-wasm-dynamic-tiering')
}

export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/**
 * Collects garbage and gives all the memory that it took back to the system, the young generation's too, which otherwise
 * only grows. Takes some 20 ms; does nothing where Node was built without its inspector.
 */
export async function shrinkHeap(): Promise<void> {
  const inspector = await import('node:inspector/promises').catch(() => undefined)
  if (inspector === undefined) return
  const session = new inspector.Session()
  session.connect()
  // Nothing depends on it.
  await session.post('HeapProfiler.collectGarbage').catch(() => undefined)
  session.disconnect()
}
