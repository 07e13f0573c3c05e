import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from './errors.ts'
import type { SliceContext } from './write-slice.ts'
import type { WriteTask } from './write-task.ts'

/** What a thread answers. */
export type WorkerAnswer =
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** Tells a thread to break off its task and end; ended from outside in native work it would end the whole process. */
export const STOP = 'stop'

/** Threads that each do one task of the writing after the other. */
export type WriteThreads = {
  /** Rejects with what the task threw; with a BUG where a thread broke, for all tasks, or was closed. */
  run(task: WriteTask): Promise<unknown>
  /** From now on the asking thread takes tasks too: it has nothing else to do. */
  help(): void
  /** Gives up what is under way; resolves when no thread is left. */
  close(): Promise<void>
}

const WORKER = new URL('./write-worker.js', import.meta.url)
/** Threads need the built program. */
export const CAN_THREAD = import.meta.url.endsWith('.js')

/**
 * Rows live short too, but there are many of them: the young generation of a thread, half of which is in use at a time,
 * begins as large as it may become.
 */
const YOUNG_MB = 24
const HALF_MB = YOUNG_MB / 3

/** `runHere` does a task in the asking thread. */
export function openWriteThreads(
  context: SliceContext,
  { count, runHere }: { count: number; runHere: (task: WriteTask) => Promise<unknown> },
): WriteThreads {
  const waiting: Waiting[] = []
  let [isHelping, isHereBusy] = [false, false]
  let ended: ExportError | undefined
  const next = () => {
    for (const thread of threads) if (thread.current === undefined) thread.current = assign(thread, waiting)
    const task = isHelping && !isHereBusy ? waiting.shift() : undefined
    if (task === undefined) return
    isHereBusy = true
    const done = () => {
      isHereBusy = false
      next()
    }
    // What else this thread has to hear is heard between two tasks.
    const later = () => setImmediate(done)
    runHere(task.task).then(task.resolve, task.reject).finally(later)
  }
  const giveUp = (why: ExportError) => {
    ended ??= why
    for (const { reject } of waiting.splice(0)) reject(ended)
    for (const thread of threads) {
      thread.current?.reject(ended)
      thread.current = undefined
    }
  }
  const threads = Array.from({ length: count }, () => openThread(context, { next, giveUp }))
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        waiting.push({ task, resolve, reject })
        next()
      }),
    help: () => {
      isHelping = true
      next()
    },
    close: async () => {
      giveUp(new ExportError('BUG', 'the writing was given up'))
      for (const { worker } of threads) worker.postMessage(STOP)
      await Promise.all(threads.map(({ exited }) => exited))
    },
  }
}

type Waiting = {
  task: WriteTask
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread, what it is at, and its end. */
type Thread = { worker: Worker; current: Waiting | undefined; exited: Promise<unknown> }

type ThreadEvents = {
  /** A task is done. */
  next: () => void
  /** The thread broke: tasks that wait for it would wait for ever. */
  giveUp: (why: ExportError) => void
}

function openThread(context: SliceContext, { next, giveUp }: ThreadEvents): Thread {
  setFlagsFromString(`--min-semi-space-size=${HALF_MB}`)
  const worker = new Worker(WORKER, {
    workerData: context,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  })
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  const thread: Thread = { worker, current: undefined, exited }
  worker.on('message', (answer: WorkerAnswer) => {
    if ('error' in answer) thread.current?.reject(revive(answer.error))
    else thread.current?.resolve(answer.result)
    thread.current = undefined
    next()
  })
  worker.on('error', (fault) => giveUp(toExportError(fault)))
  worker.on('exit', () => giveUp(new ExportError('BUG', 'a writing thread ended early')))
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
