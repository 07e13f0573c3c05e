import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { ExportError } from '../../core/errors.ts'
import type { SliceContext } from '../write-slice.ts'
import { openWriteTasks, type WriteResult, type WriteTask, type WriteTasks } from './task.ts'
import { CAN_THREAD, openWriteThread, type Waiting, type WriteThread } from './thread.ts'

/** Does the tasks of one job's writing: in threads, or in this one where there is little to do or no thread to be had. */
export type WritePool = {
  /** Tells that so many more bytes of pages will have to be done: a thread takes a while to start. */
  expect(bytes: number): void
  /**
   * `bytes`: how much there is to do; the lowest blocks come first. Rejects with what the task threw, and always once the
   * pool is closed.
   */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

/** So little is done before a thread has started. */
const SMALL_BYTES = 1_000_000
/**
 * One a core, all jobs of the process together, each with memory of its own: the thread that reads for all of them mostly
 * waits. On two cores a second writing thread ends an export of seven dense tables a sixth earlier.
 */
const MOST_THREADS = Math.min(4, availableParallelism())
/** A thread has its next task at hand: this one may be busy with a page when it is done with one. */
const TASKS_AT_HAND = 2
let openThreads = 0

export function openWritePool(context: SliceContext): WritePool {
  const waiting: Waiting[] = []
  const threads: WriteThread[] = []
  const here = openHere(context, () => (threads.length === 0 ? waiting.shift() : undefined))
  let [expected, asked] = [0, 0]
  let ended: ExportError | undefined
  const end = (why: ExportError) => {
    ended ??= why
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  const openThread = () => {
    openThreads += 1
    const thread = openWriteThread(context, { onAnswer: next, onBreak: end })
    threads.push(thread)
    return thread
  }
  const mayOpen = () => CAN_THREAD && openThreads < MOST_THREADS && Math.max(expected, asked) >= SMALL_BYTES
  const next = () => {
    while (waiting.length > 0) {
      const [free] = threads.filter(({ tasks }) => tasks < TASKS_AT_HAND).sort((a, b) => a.tasks - b.tasks)
      const taker = free ?? (mayOpen() ? openThread() : undefined)
      if (taker === undefined) break
      taker.give(waiting.shift() as Waiting)
    }
    if (threads.length === 0) here.begin()
  }
  return {
    expect: (bytes) => {
      expected += bytes
      if (threads.length === 0 && ended === undefined && mayOpen()) openThread()
    },
    run: <T extends WriteTask>(task: T, bytes: number) =>
      new Promise<WriteResult<T>>((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        asked += bytes
        const before = waiting.findLastIndex((one) => firstBlock(one.task) <= firstBlock(task))
        waiting.splice(before + 1, 0, { task, resolve: resolve as Waiting['resolve'], reject })
        next()
      }),
    close: async () => {
      const why = new ExportError('BUG', 'the writing was given up')
      end(why)
      const closing = threads.splice(0)
      await Promise.all([here.stop(), ...closing.map((thread) => thread.close(why))])
      openThreads -= closing.length
    },
  }
}

/** Does tasks in this thread, as long as there is a next; what else there is to do in it comes between. */
function openHere(context: SliceContext, nextOne: () => Waiting | undefined) {
  const stop = new AbortController()
  let tasks: WriteTasks | undefined
  let work: Promise<void> | undefined
  const goOn = async () => {
    await setImmediate()
    tasks ??= openWriteTasks(context)
    for (let one = nextOne(); one !== undefined; one = nextOne()) {
      // There may be many jobs in this thread, and few open files allowed.
      await tasks.run(one.task, stop.signal).finally(tasks.close).then(one.resolve, one.reject)
      await setImmediate()
    }
    work = undefined
  }
  return {
    begin: () => {
      work ??= goOn()
    },
    /** Breaks off what takes long; resolves when nothing is under way. */
    stop: async () => {
      stop.abort()
      await work
    },
  }
}

const firstBlock = (task: WriteTask) =>
  task.kind === 'slice' ? task.slice.range.from : Number.POSITIVE_INFINITY
