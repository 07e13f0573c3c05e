import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from '../../core/errors.ts'
import { PACKAGE } from '../../core/version.ts'
import type { SliceContext } from '../write-slice.ts'
import type { WriteTask } from './task.ts'

/** What a thread answers to a task. */
export type WorkerAnswer =
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** A task, and whom its result is for. */
export type Waiting = {
  task: WriteTask
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread that does one task of the writing after the other. */
export type WriteThread = {
  /** Tasks that it has and has not answered. */
  readonly tasks: number
  give(one: Waiting): void
  /** Breaks off what is under way, and rejects it; resolves when the thread is gone. */
  close(why: ExportError): Promise<void>
}

export type ThreadEvents = {
  /** A task was answered. */
  onAnswer: () => void
  /** The thread ended before it was closed; its tasks are rejected. */
  onBreak: (why: ExportError) => void
}

const WORKER = new URL('dist/assemble/threads/worker.js', PACKAGE)
/** Threads need the built program. */
export const CAN_THREAD = import.meta.url.endsWith('.js')

export function openWriteThread(context: SliceContext, { onAnswer, onBreak }: ThreadEvents): WriteThread {
  /** In the order in which they will be answered. */
  const given: Waiting[] = []
  const worker = new Worker(WORKER, { workerData: context })
  let isClosed = false
  const giveUp = (why: ExportError) => {
    for (const { reject } of given.splice(0)) reject(why)
  }
  const breakDown = (why: ExportError) => {
    giveUp(why)
    if (!isClosed) onBreak(why)
    isClosed = true
  }
  worker.on('message', (answer: WorkerAnswer) => {
    const one = given.shift()
    if ('error' in answer) one?.reject(revive(answer.error))
    else one?.resolve(answer.result)
    onAnswer()
  })
  worker.on('error', (fault) => breakDown(toExportError(fault)))
  worker.on('exit', () => breakDown(new ExportError('BUG', 'a writing thread ended early')))
  return {
    get tasks() {
      return given.length
    },
    give: (one) => {
      given.push(one)
      worker.postMessage(one.task)
    },
    close: async (why) => {
      isClosed = true
      giveUp(why)
      await worker.terminate()
    },
  }
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
