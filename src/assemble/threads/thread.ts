import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from '../../core/errors.ts'
import { PACKAGE } from '../../core/version.ts'
import type { SliceContext } from '../write-slice.ts'
import type { WriteTask } from './task.ts'

/** What the thread answers. */
export type WorkerAnswer =
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** Tells the thread to break off its task and end; ended from outside in native work it would end the whole process. */
export const STOP = 'stop'

/** A thread that does one task of the writing after the other. */
export type WriteThread = {
  /** Rejects with what the task threw; with a BUG where the thread broke, for all tasks, or was closed. */
  run(task: WriteTask): Promise<unknown>
  /**
   * The task with the highest blocks of those that it has not begun, for somebody else to do; undefined where fewer than so
   * many wait.
   */
  handOver(least: number): Waiting | undefined
  /** Gives up what is under way; resolves when the thread is gone. */
  close(): Promise<void>
}

const WORKER = new URL('dist/assemble/threads/worker.js', PACKAGE)
/** Threads need the built program. */
const CAN_THREAD = import.meta.url.endsWith('.js')
/** In the process, whatever the number of jobs: each takes memory, and one reads for all of them. */
const MOST_THREADS = Math.min(4, availableParallelism())
let openThreads = 0

/** Whether one more may be opened now. */
export const canOpenThread = () => CAN_THREAD && openThreads < MOST_THREADS

/**
 * Rows live short too, but there are many of them: the young generation of a thread, half of which is in use at a time,
 * begins as large as it may become.
 */
const YOUNG_MB = 24
const HALF_MB = YOUNG_MB / 3

/** So many tasks the thread has at a time: more than it does while this one is busy with something long. */
const MOST_UNDER_WAY = 6

/** A task, and whom its result is for. */
type Waiting = {
  task: WriteTask
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

export function openWriteThread(context: SliceContext): WriteThread {
  const waiting: Waiting[] = []
  /** In the order in which they will be answered. */
  const underWay: Waiting[] = []
  let ended: ExportError | undefined
  const worker = takeWorker()
  openThreads += 1
  worker.once('exit', () => {
    openThreads -= 1
  })
  worker.postMessage(context)
  const next = () => {
    while (underWay.length < MOST_UNDER_WAY) {
      const one = waiting.shift()
      if (one === undefined) return
      underWay.push(one)
      worker.postMessage(one.task)
    }
  }
  const giveUp = (why: ExportError) => {
    ended ??= why
    for (const { reject } of [...underWay.splice(0), ...waiting.splice(0)]) reject(ended)
  }
  worker.on('message', (answer: WorkerAnswer) => {
    const one = underWay.shift()
    if ('error' in answer) one?.reject(revive(answer.error))
    else one?.resolve(answer.result)
    next()
  })
  worker.on('error', (fault) => giveUp(toExportError(fault)))
  worker.on('exit', () => giveUp(new ExportError('BUG', 'a writing thread ended early')))
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        // The lowest blocks first: files begin with them.
        const before = waiting.findLastIndex((one) => firstBlock(one.task) <= firstBlock(task))
        waiting.splice(before + 1, 0, { task, resolve, reject })
        next()
      }),
    handOver: (least) => (waiting.length < least ? undefined : waiting.pop()),
    close: async () => {
      giveUp(new ExportError('BUG', 'the writing was given up'))
      worker.postMessage(STOP)
      await exited
    },
  }
}

const firstBlock = (task: WriteTask) =>
  task.kind === 'slice' ? task.slice.range.from : Number.POSITIVE_INFINITY

let spare: Worker | undefined

/**
 * Starts a thread before it is known whether there is work for it, so that it is there when the rest of the program is. It
 * does not keep the process alive.
 */
export function prepareThread(): void {
  if (!CAN_THREAD || spare !== undefined) return
  spare = startWorker()
  spare.unref()
  // Where it cannot start, the next one says why.
  spare.on('error', () => {
    spare = undefined
  })
}

function takeWorker(): Worker {
  const worker = spare ?? startWorker()
  spare = undefined
  worker.removeAllListeners('error')
  worker.ref()
  return worker
}

function startWorker(): Worker {
  setFlagsFromString(`--min-semi-space-size=${HALF_MB}`)
  return new Worker(WORKER, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
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
