import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from '../../core/model/errors.ts'
import { PACKAGE } from '../../core/model/version.ts'
import { isForBodies } from '../../http/buffer-pool.ts'
import type { Page } from '../../sources/data-api/pages/page.ts'
import type { PageTask, WriteContext, WriteTask } from './task.ts'

/** A task as a thread is given it. */
export type ThreadTask = WriteTask | ({ kind: 'read' } & PageTask)

/**
 * What a thread says: that it has started; and what it answers: of a page first what was read, and then, as to every other
 * task, what came of it.
 */
export type WorkerAnswer =
  | { isReady: true }
  | { page: Page }
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** A task, and whom its result is for. */
export type Waiting<T extends ThreadTask = ThreadTask> = {
  task: T
  /** Called with a page before its rows are made. */
  onPage?: (page: Page) => void
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A thread that does one task of the writing after the other. */
export type WriteThread = {
  /** It has started: what it is given now is begun at once. */
  readonly isReady: boolean
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

const WORKER = new URL('dist/transform/threads/worker.js', PACKAGE)
/** Threads need the built program. */
export const CAN_THREAD = import.meta.url.endsWith('.js')

export function openWriteThread(context: WriteContext, { onAnswer, onBreak }: ThreadEvents): WriteThread {
  /** In the order in which they will be answered. */
  const given: Waiting[] = []
  const worker = new Worker(WORKER, { workerData: context })
  let [isReady, isClosed] = [false, false]
  const giveUp = (why: ExportError) => {
    for (const { reject } of given.splice(0)) reject(why)
  }
  const breakDown = (why: ExportError) => {
    giveUp(why)
    if (!isClosed) onBreak(why)
    isClosed = true
  }
  const settle = (answer: Exclude<WorkerAnswer, { isReady: true } | { page: Page }>) => {
    const one = given.shift()
    if ('error' in answer) one?.reject(revive(answer.error))
    else one?.resolve(answer.result)
    onAnswer()
  }
  worker.on('message', (answer: WorkerAnswer) => {
    if ('isReady' in answer) isReady = true
    else if ('page' in answer) given[0]?.onPage?.(withBuffer(answer.page))
    else settle(answer)
  })
  worker.on('error', (fault) => breakDown(toExportError(fault)))
  worker.on('exit', () => breakDown(new ExportError('BUG', 'a writing thread ended early')))
  return {
    get isReady() {
      return isReady
    },
    get tasks() {
      return given.length
    },
    give: (one) => {
      given.push(one)
      worker.postMessage(one.task, one.task.kind === 'read' ? ownMemory(one.task.body) : [])
    },
    close: async (why) => {
      isClosed = true
      giveUp(why)
      await worker.terminate()
    },
  }
}

/** The memory of bytes that share it with nobody: it goes to another thread as it is, without a copy. */
export function ownMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  const isOwn = buffer.byteLength === byteLength || isForBodies(buffer)
  return isOwn && buffer instanceof ArrayBuffer ? [buffer] : []
}

/** On their way bytes lose that they are a Buffer. */
export function withBuffer<T extends { body: Uint8Array }>(message: T): T & { body: Buffer } {
  const { buffer, byteOffset, byteLength } = message.body
  return { ...message, body: Buffer.from(buffer, byteOffset, byteLength) }
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
