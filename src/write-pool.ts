import { ExportError } from './errors.ts'
import type { SliceContext } from './write-slice.ts'
import { runWriteTask, type WriteResult, type WriteTask } from './write-task.ts'
import { CAN_THREAD, openWriteThreads, type WriteThreads } from './write-threads.ts'

/** Does the tasks of the writing: in this thread while they are small, in threads of their own from then on. */
export type WritePool = {
  /** `bytes`: how much there is to do. Rejects with what the task threw, and always once the pool is closed. */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

/** The thread that asks has work of its own, and each further one costs some 80 MB. */
const THREADS = 1
/** So little is done before a thread has started. */
const SMALL_BYTES = 2_000_000

export function openWritePool(context: SliceContext): WritePool {
  const here = new Set<Promise<unknown>>()
  const stop = new AbortController()
  let threads: WriteThreads | undefined
  let bytesSoFar = 0
  let isClosed = false
  const runHere = (task: WriteTask) => {
    const work = runWriteTask(task, context, stop.signal)
    here.add(work)
    return work.finally(() => here.delete(work))
  }
  return {
    run: async <T extends WriteTask>(task: T, bytes: number) => {
      if (isClosed) throw new ExportError('BUG', 'the writing was given up')
      bytesSoFar += bytes
      if (CAN_THREAD && bytesSoFar >= SMALL_BYTES)
        threads ??= openWriteThreads(context, { count: THREADS, runHere })
      return (await (threads?.run(task) ?? runHere(task))) as WriteResult<T>
    },
    close: async () => {
      isClosed = true
      stop.abort()
      await threads?.close()
      await Promise.allSettled(here)
    },
  }
}
