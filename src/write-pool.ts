import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ExportError } from './errors.ts'
import type { SliceContext } from './write-slice.ts'
import { runWriteTask, type WriteResult, type WriteTask } from './write-task.ts'

/** What a thread answers. */
export type WorkerAnswer =
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** Does the tasks of the writing: in this thread while they are small, in threads of their own from then on. */
export type WritePool = {
  /** `bytes`: how much there is to do. Rejects with what the task threw. */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Gives up what is under way. */
  close(): Promise<void>
}

/** Each thread costs memory: more than two gain little beside the one that asks. */
const MOST_THREADS = 2
/** So little is done before a thread has started. */
const SMALL_BYTES = 3_000_000
/** Threads need the built program. */
const WORKER = new URL('./write-worker.js', import.meta.url)
const CAN_THREAD = import.meta.url.endsWith('.js')

export function openWritePool(context: SliceContext): WritePool {
  const threads: Thread[] = []
  const waiting: Waiting[] = []
  let doneHere = 0
  const next = () => {
    for (const thread of threads) if (thread.current === undefined) thread.current = assign(thread, waiting)
  }
  const start = () => {
    for (let at = 0; at < Math.min(MOST_THREADS, availableParallelism()); at += 1)
      threads.push(openThread(context, next))
  }
  return {
    run: <T extends WriteTask>(task: T, bytes: number) => {
      doneHere += bytes
      if (threads.length === 0 && (doneHere < SMALL_BYTES || !CAN_THREAD)) {
        return runWriteTask(task, context) as Promise<WriteResult<T>>
      }
      if (threads.length === 0) start()
      return new Promise<WriteResult<T>>((resolve, reject) => {
        waiting.push({ task, resolve: resolve as (result: unknown) => void, reject })
        next()
      })
    },
    close: async () => {
      for (const { reject } of waiting.splice(0)) reject(new ExportError('BUG', 'the writing was given up'))
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
    },
  }
}

type Waiting = {
  task: WriteTask
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread and what it is at. */
type Thread = { worker: Worker; current: Waiting | undefined }

function openThread(context: SliceContext, next: () => void): Thread {
  const thread: Thread = {
    worker: new Worker(WORKER, { workerData: context }),
    current: undefined,
  }
  const end = (settle: (current: Waiting) => void) => {
    const { current } = thread
    thread.current = undefined
    if (current !== undefined) settle(current)
    next()
  }
  thread.worker.on('message', (answer: WorkerAnswer) =>
    end(({ resolve, reject }) => ('error' in answer ? reject(revive(answer.error)) : resolve(answer.result))),
  )
  thread.worker.on('error', (fault) => end(({ reject }) => reject(fault)))
  thread.worker.on('exit', () =>
    end(({ reject }) => reject(new ExportError('BUG', 'a writing thread ended early'))),
  )
  return thread
}

function assign({ worker }: Thread, waiting: Waiting[]): Waiting | undefined {
  const task = waiting.shift()
  if (task !== undefined) worker.postMessage(task.task)
  return task
}

function revive({
  code,
  message,
  fix,
  stack,
}: Extract<WorkerAnswer, { error: unknown }>['error']): ExportError {
  const error = new ExportError(code, message, { fix })
  if (stack !== undefined) error.stack = stack
  return error
}
