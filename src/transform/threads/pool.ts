import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { ExportError } from '../../core/model/errors.ts'
import type { Page } from '../../sources/data-api/pages/page.ts'
import type { StagedPage } from '../staged/stage-page.ts'
import {
  openTaskRunner,
  type PageTask,
  type TaskRunner,
  type WriteContext,
  type WriteResult,
  type WriteTask,
} from './task.ts'
import { CAN_THREAD, openWriteThread, type QueuedTask, type WriteThread } from './thread.ts'

/** Does the tasks of one job's writing: in threads, or in this one where there is little to do or no thread to be had. */
export type WritePool = {
  /** Tells that so many more bytes of pages will have to be done: a thread takes a while to start. */
  expectBytes(bytes: number): void
  /**
   * Has a thread read a page, as `readPage` does, and then make its rows; undefined where there is no thread. The body is
   * that thread's until the page is there, which has it then. Rejects as `readPage` throws, and once the pool is closed.
   */
  readPage(task: PageTask): PendingPage | undefined
  /** `bytes`: how much there is to do. Rejects with what the task threw, and always once the pool is closed. */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Resolves when all lines are in their files, where every thread can read them. */
  flush(): Promise<void>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

export type PendingPage = { page: Promise<Page>; staged: Promise<StagedPage> }

/** So little is done before a thread has started. */
const MIN_THREADED_BYTES = 1_000_000
/**
 * One a core, all jobs of the process together, each with memory of its own: the thread that reads for all of them mostly
 * waits. On two cores a second writing thread ends an export of seven dense tables a quarter earlier.
 */
const MAX_THREADS = Math.min(4, availableParallelism())
/** A thread has its next task at hand: this one may be busy with a page when it is done with one. */
const MAX_QUEUED_TASKS = 2
let openThreads = 0

export function openWritePool(context: WriteContext): WritePool {
  return new ThreadPool(context)
}

class ThreadPool implements WritePool {
  readonly #context: WriteContext
  readonly #waiting: QueuedTask<WriteTask>[] = []
  readonly #threads: WriteThread[] = []
  readonly #here: InlineWorker
  #expected = 0
  #asked = 0
  #ended: ExportError | undefined

  constructor(context: WriteContext) {
    this.#context = context
    this.#here = openInlineWorker(context, () =>
      this.#threads.length === 0 ? this.#waiting.shift() : undefined,
    )
  }

  expectBytes(bytes: number): void {
    this.#expected += bytes
    if (this.#threads.length > 0 || this.#ended !== undefined || !this.#mayOpen()) return
    this.#openThread()
    // What waits to be done in this thread is that one's from now on.
    this.#deal()
  }

  readPage(task: PageTask): PendingPage | undefined {
    const thread = this.#threadForPage()
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

  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>> {
    return new Promise<WriteResult<T>>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended)
      this.#asked += bytes
      this.#waiting.push({ task, resolve: resolve as QueuedTask['resolve'], reject })
      this.#deal()
    })
  }

  async flush(): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended
    const flushIn = (thread: WriteThread) =>
      new Promise((resolve, reject) => thread.post({ task: { kind: 'flush' }, resolve, reject }))
    await Promise.all(this.#threads.map(flushIn))
  }

  async close(): Promise<void> {
    const reason = new ExportError('BUG', 'the writing was given up')
    this.#end(reason)
    const closing = this.#threads.splice(0)
    await Promise.all([this.#here.stop(), ...closing.map((thread) => thread.close(reason))])
    openThreads -= closing.length
  }

  /** Of the threads that have started the one that has least to do; where that is something, another one starts. */
  #threadForPage(): WriteThread | undefined {
    if (this.#ended !== undefined) throw this.#ended
    const [free] = this.#threads.filter(({ isReady }) => isReady).sort(byTasks)
    if (free !== undefined && free.tasks > 0 && this.#mayOpen()) this.#openThread()
    return free
  }

  #threadForTask(): WriteThread | undefined {
    const [free] = this.#threads.filter(({ tasks }) => tasks < MAX_QUEUED_TASKS).sort(byTasks)
    return free ?? (this.#mayOpen() ? this.#openThread() : undefined)
  }

  #deal(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#threadForTask()
      if (thread === undefined) break
      thread.post(this.#waiting.shift() as QueuedTask<WriteTask>)
    }
    if (this.#threads.length === 0) this.#here.start()
  }

  #mayOpen(): boolean {
    return (
      CAN_THREAD && openThreads < MAX_THREADS && Math.max(this.#expected, this.#asked) >= MIN_THREADED_BYTES
    )
  }

  #openThread(): WriteThread {
    openThreads += 1
    const thread = openWriteThread(this.#context, {
      onResult: () => this.#deal(),
      onCrash: (reason) => this.#end(reason),
    })
    this.#threads.push(thread)
    return thread
  }

  #end(reason: ExportError): void {
    this.#ended ??= reason
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
  }
}

const byTasks = (a: WriteThread, b: WriteThread) => a.tasks - b.tasks

type InlineWorker = { start(): void; stop(): Promise<void> }

/** Does tasks in this thread, as long as there is a next; what else there is to do in it comes between. */
function openInlineWorker(
  context: WriteContext,
  nextTask: () => QueuedTask<WriteTask> | undefined,
): InlineWorker {
  let runner: TaskRunner | undefined
  let draining: Promise<void> | undefined
  const drain = async () => {
    await setImmediate()
    runner ??= openTaskRunner(context)
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
    /** Resolves when nothing is under way. */
    stop: async () => draining,
  }
}

function runInline(runner: TaskRunner, { task, resolve, reject }: QueuedTask<WriteTask>): void {
  try {
    resolve(runner.run(task))
  } catch (thrown) {
    reject(thrown)
  } finally {
    // There may be many jobs in this thread, and few open files allowed.
    runner.close()
  }
}
