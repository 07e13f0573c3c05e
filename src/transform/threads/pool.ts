import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { ExportError } from '../../core/model/errors.ts'
import type { Answer, Page } from '../../sources/source.ts'
import type { FeeSource } from '../fees.ts'
import type { StagedPage } from '../staged/stage-page.ts'
import {
  openTaskRunner,
  type PageTask,
  type TaskRunner,
  type WriteContext,
  type WriteResult,
  type WriteTask,
} from './task.ts'
import { CAN_THREAD, openWriteThread, type QueuedTask, type WriteThread, withBuffer } from './thread.ts'

/**
 * Runs the write tasks of one job in worker threads. Runs them in this thread if there is little to do or if
 * worker threads are not available.
 */
export type WritePool = {
  /** Announces bytes of pages that will need processing, so that a thread can start early. */
  expectBytes(bytes: number): void
  /**
   * Parses a page in a thread, like `parsePage` of the source, and then stages its rows there. Returns
   * undefined if there is no thread. The memory of `body` is transferred to the thread; use the `body` of the
   * resulting page instead.
   *
   * @param reader if it has read answers, the page is read by the same thread, which has parsed them
   * @throws if the pool is closed. `page` rejects with the errors of `parsePage`.
   */
  readPage(task: PageTask, reader?: object): PendingPage | undefined
  /** Reads an answer in a thread, like `readAnswer` of the source. Undefined if there is no thread. */
  readAnswer(body: Buffer, reader: object): Promise<Answer> | undefined
  /**
   * Runs a task. Rejects with the task's error, or once the pool is closed.
   *
   * @param bytes size of the task's pages, which decides whether starting a thread is worthwhile
   */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /**
   * Resolves when all threads have written their buffered lines to files, where other threads can read them.
   */
  flush(): Promise<void>
  /** Sets the prices that the rows of all tasks from now on are built with. */
  setFees(fees: FeeSource): void
  /** Aborts queued tasks and stops the threads. Resolves when nothing is running. */
  close(): Promise<void>
}

export type PendingPage = { page: Promise<Page>; staged: Promise<StagedPage> }

/** Less work than this is done faster in this thread than a thread starts. */
const MIN_THREADED_BYTES = 1_000_000
/**
 * A further thread of a job is started only if it has work that waits, and this many bytes of pages for each thread that it
 * has. V8 compiles the code again in each thread, which takes about a processor second, and one thread stages more than
 * 10 MB a second: services deliver less.
 */
const MIN_BYTES_PER_THREAD = 128_000_000
/** One thread per core, at most 4, for all jobs of the process together, because each thread has its own heap. */
const MAX_THREADS = Math.min(4, availableParallelism())
/**
 * Each thread has a second task queued, so that it does not idle if the main thread is busy when the first
 * task ends.
 */
const MAX_QUEUED_TASKS = 2
let openThreads = 0

export function openWritePool(context: WriteContext): WritePool {
  return new ThreadPool(context)
}

class ThreadPool implements WritePool {
  #context: WriteContext
  readonly #waiting: QueuedTask<WriteTask>[] = []
  readonly #threads: WriteThread[] = []
  /** The thread that reads the answers of a reader. */
  readonly #readers = new WeakMap<object, WriteThread>()
  readonly #inlineWorker: InlineWorker
  #expectedBytes = 0
  #queuedBytes = 0
  #closeReason: ExportError | undefined

  constructor(context: WriteContext) {
    this.#context = context
    this.#inlineWorker = openInlineWorker(
      () => this.#context,
      () => (this.#threads.length === 0 ? this.#waiting.shift() : undefined),
    )
  }

  expectBytes(bytes: number): void {
    this.#expectedBytes += bytes
    if (this.#threads.length > 0 || this.#closeReason !== undefined || !this.#mayOpen()) return
    this.#openThread()
    // Moves the tasks that wait for this thread to the new one.
    this.#dispatch()
  }

  readPage(task: PageTask, reader = {}): PendingPage | undefined {
    const thread = this.#threadForPage(reader)
    if (thread === undefined) return undefined
    let onPage: (page: Page) => void = () => undefined
    const staged = new Promise<unknown>((resolve, reject) => {
      thread.post({ task: { kind: 'read', ...task }, onPage: (page) => onPage(page), resolve, reject })
    })
    const page = new Promise<Page>((resolve, reject) => {
      onPage = resolve
      staged.catch(reject)
    })
    return { page, staged: staged as Promise<StagedPage> }
  }

  readAnswer(body: Buffer, reader: object): Promise<Answer> | undefined {
    const thread = this.#threadForPage(reader)
    if (thread === undefined) return undefined
    this.#readers.set(reader, thread)
    return new Promise<Answer>((resolve, reject) => {
      const onAnswer = (answer: unknown) => resolve(withBuffer(answer as Answer))
      thread.post({ task: { kind: 'answer', body }, resolve: onAnswer, reject })
    })
  }

  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>> {
    return new Promise<WriteResult<T>>((resolve, reject) => {
      if (this.#closeReason !== undefined) return reject(this.#closeReason)
      this.#queuedBytes += bytes
      this.#waiting.push({ task, resolve: resolve as QueuedTask['resolve'], reject })
      this.#dispatch()
    })
  }

  async flush(): Promise<void> {
    if (this.#closeReason !== undefined) throw this.#closeReason
    const flushIn = (thread: WriteThread) =>
      new Promise((resolve, reject) => thread.post({ task: { kind: 'flush' }, resolve, reject }))
    await Promise.all(this.#threads.map(flushIn))
  }

  setFees(fees: FeeSource): void {
    this.#context = { ...this.#context, fees }
    this.#inlineWorker.setFees(fees)
    const ignore = () => undefined
    for (const thread of this.#threads)
      thread.post({ task: { kind: 'fees', fees }, resolve: ignore, reject: ignore })
  }

  async close(): Promise<void> {
    const reason = new ExportError('BUG', 'the write pool was closed')
    this.#failQueued(reason)
    const closing = this.#threads.splice(0)
    await Promise.all([this.#inlineWorker.stop(), ...closing.map((thread) => thread.close(reason))])
    openThreads -= closing.length
  }

  /**
   * Returns the reader's thread, or else the least busy. If it has work queued, another thread may be started for later
   * pages.
   */
  #threadForPage(reader: object): WriteThread | undefined {
    if (this.#closeReason !== undefined) throw this.#closeReason
    const own = this.#readers.get(reader)
    if (own !== undefined) return own
    const [free] = this.#threads.toSorted(byTasks)
    if (free !== undefined && free.tasks > 0 && this.#mayOpen()) this.#openThread()
    return free
  }

  #threadForTask(): WriteThread | undefined {
    const [free] = this.#threads.filter(({ tasks }) => tasks < MAX_QUEUED_TASKS).sort(byTasks)
    return free ?? (this.#mayOpen() ? this.#openThread() : undefined)
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threadForTask()
      if (thread === undefined) break
      thread.post(this.#waiting.shift() as QueuedTask<WriteTask>)
    }
    if (this.#threads.length === 0) this.#inlineWorker.start()
  }

  #mayOpen(): boolean {
    return (
      CAN_THREAD &&
      openThreads < MAX_THREADS &&
      Math.max(this.#expectedBytes, this.#queuedBytes) >=
        (this.#threads.length === 0 ? MIN_THREADED_BYTES : MIN_BYTES_PER_THREAD * this.#threads.length)
    )
  }

  #openThread(): WriteThread {
    openThreads += 1
    const thread = openWriteThread(this.#context, {
      onResult: () => this.#dispatch(),
      onCrash: (reason) => this.#failQueued(reason),
    })
    this.#threads.push(thread)
    return thread
  }

  #failQueued(reason: ExportError): void {
    this.#closeReason ??= reason
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closeReason)
  }
}

const byTasks = (a: WriteThread, b: WriteThread) => a.tasks - b.tasks

type InlineWorker = { start(): void; setFees(fees: FeeSource): void; stop(): Promise<void> }

/** Runs queued tasks in this thread and yields to the event loop after each. */
function openInlineWorker(
  context: () => WriteContext,
  nextTask: () => QueuedTask<WriteTask> | undefined,
): InlineWorker {
  let runner: TaskRunner | undefined
  let draining: Promise<void> | undefined
  const drain = async () => {
    await setImmediate()
    runner ??= openTaskRunner(context())
    for (let task = nextTask(); task !== undefined; task = nextTask()) {
      runInline(runner, task)
      await setImmediate()
    }
    draining = undefined
  }
  return {
    start: () => {
      draining ??= drain()
    },
    setFees: (fees) => runner?.run({ kind: 'fees', fees }),
    /** Resolves when no task is running. */
    stop: async () => draining,
  }
}

function runInline(runner: TaskRunner, { task, resolve, reject }: QueuedTask<WriteTask>): void {
  try {
    const result = runner.run(task)
    // Many jobs may share this thread, and the number of open files is limited. Closing writes buffered lines.
    runner.close()
    resolve(result)
  } catch (error) {
    reject(error)
    closeAfterError(runner)
  }
}

/** Closes the files of a failed task. Its error is the one to report. */
function closeAfterError(runner: TaskRunner): void {
  try {
    runner.close()
  } catch {
    // The files are removed with their folder.
  }
}
