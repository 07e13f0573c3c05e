import { ExportError } from './errors.ts'
import { limitConcurrency } from './fetch/limit.ts'
import { collectGarbage } from './heap.ts'
import type { SliceContext } from './write-slice.ts'
import { openWriteTasks, type WriteResult, type WriteTask } from './write-task.ts'
import { CAN_THREAD, openWriteThreads, type WriteThreads } from './write-threads.ts'

/** Does the tasks of the writing: in this thread while they are small, in threads of their own from then on. */
export type WritePool = {
  /** Tells that so many more bytes will have to be done: threads take a while to start. */
  expect(bytes: number): void
  /** Tells that nothing is left to read, so that this thread has time. */
  help(): void
  /**
   * `bytes`: how much there is to do. Slices come first, tables after all of them, the largest first. Rejects with what
   * the task threw, and always once the pool is closed.
   */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

/** The thread that asks has work of its own, and each further one costs some 80 MB. */
const THREADS = 1
/** So little is done before a thread has started. */
const SMALL_BYTES = 1_000_000
/**
 * DuckDB works beside this thread, which prepares what is next. Each copy has memory of its own, and more of it in use
 * the longer it takes: long ones go one after the other.
 */
const parquetAtOnce = (bytes: number) => (bytes > LONG_BYTES ? 1 : 2)
const LONG_BYTES = 200_000_000

export function openWritePool(context: SliceContext): WritePool {
  const here = new Set<Promise<unknown>>()
  const runTask = openWriteTasks(context)
  const stop = new AbortController()
  let threads: WriteThreads | undefined
  let [expected, begun] = [0, 0]
  let [isHelping, isClosed] = [false, false]
  const requireOpen = () => {
    if (isClosed) throw new ExportError('BUG', 'the writing was given up')
  }
  const runHere = (task: WriteTask) => {
    const work = runTask(task, stop.signal)
    here.add(work)
    return work.finally(() => here.delete(work))
  }
  const startIfMuch = (bytes: number) => {
    if (!CAN_THREAD || bytes < SMALL_BYTES || isClosed || threads !== undefined) return
    threads = openWriteThreads(context, { count: THREADS, runHere })
    if (isHelping) threads.help()
  }
  let limitParquet: ReturnType<typeof limitConcurrency> | undefined
  let parquetMemory: Promise<void> | undefined
  /** What threads, which have nothing left to do, and rows hold goes before DuckDB asks for memory. */
  const makeRoom = async () => {
    await threads?.close()
    collectGarbage()
  }
  const runParquet = (task: WriteTask, bytes: number) => {
    limitParquet ??= limitConcurrency(parquetAtOnce(bytes))
    return limitParquet(async () => {
      parquetMemory ??= makeRoom()
      await parquetMemory
      requireOpen()
      return runHere(task)
    })
  }
  return {
    expect: (bytes) => {
      expected += bytes
      startIfMuch(expected)
    },
    help: () => {
      isHelping = true
      threads?.help()
    },
    run: async <T extends WriteTask>(task: T, bytes: number) => {
      requireOpen()
      if (task.kind === 'table' && context.format === 'parquet')
        return (await runParquet(task, bytes)) as WriteResult<T>
      begun += bytes
      startIfMuch(begun)
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
