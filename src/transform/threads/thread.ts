import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from '../../core/model/errors.ts'
import { PACKAGE } from '../../core/model/version.ts'
import { isPooledBuffer } from '../../http/buffer-pool.ts'
import type { Page } from '../../sources/data-api/pages/page.ts'
import type { PageTask, WriteContext, WriteTask } from './task.ts'

/** A task as a thread is given it. */
export type ThreadTask = WriteTask | ({ kind: 'read' } & PageTask)

/**
 * What a thread says: that it has started; and what it answers: of a page first what was read, and then, as to every other
 * task, what came of it.
 */
export type WorkerMessage =
  | { isReady: true }
  | { page: Page }
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix'> & { stack: string | undefined } }

/** A task, and whom its result is for. */
export type QueuedTask<T extends ThreadTask = ThreadTask> = {
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
  post(entry: QueuedTask): void
  /** Breaks off what is under way, and rejects it; resolves when the thread is gone. */
  close(reason: ExportError): Promise<void>
}

export type ThreadEvents = {
  /** A task was answered. */
  onResult: () => void
  /** The thread ended before it was closed; its tasks are rejected. */
  onCrash: (reason: ExportError) => void
}

const WORKER = new URL('dist/transform/threads/worker.js', PACKAGE)
/** Threads need the built program. */
export const CAN_THREAD = import.meta.url.endsWith('.js')

export function openWriteThread(context: WriteContext, { onResult, onCrash }: ThreadEvents): WriteThread {
  /** In the order in which they will be answered. */
  const queue: QueuedTask[] = []
  const worker = new Worker(WORKER, { workerData: context })
  let [isReady, isClosed] = [false, false]
  const rejectAll = (reason: ExportError) => {
    for (const { reject } of queue.splice(0)) reject(reason)
  }
  const crash = (reason: ExportError) => {
    rejectAll(reason)
    if (!isClosed) onCrash(reason)
    isClosed = true
  }
  const complete = (message: Exclude<WorkerMessage, { isReady: true } | { page: Page }>) => {
    const entry = queue.shift()
    if ('error' in message) entry?.reject(reviveError(message.error))
    else entry?.resolve(message.result)
    onResult()
  }
  worker.on('message', (message: WorkerMessage) => {
    if ('isReady' in message) isReady = true
    else if ('page' in message) queue[0]?.onPage?.(withBuffer(message.page))
    else complete(message)
  })
  worker.on('error', (error) => crash(toExportError(error)))
  worker.on('exit', () => crash(new ExportError('BUG', 'a writing thread ended early')))
  return {
    get isReady() {
      return isReady
    },
    get tasks() {
      return queue.length
    },
    post: (entry) => {
      queue.push(entry)
      worker.postMessage(entry.task, entry.task.kind === 'read' ? transferableMemory(entry.task.body) : [])
    },
    close: async (reason) => {
      isClosed = true
      rejectAll(reason)
      await worker.terminate()
    },
  }
}

/** The memory of bytes that share it with nobody: it goes to another thread as it is, without a copy. */
export function transferableMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  const isOwn = buffer.byteLength === byteLength || isPooledBuffer(buffer)
  return isOwn && buffer instanceof ArrayBuffer ? [buffer] : []
}

/** On their way bytes lose that they are a Buffer. */
export function withBuffer<T extends { body: Uint8Array }>(message: T): T & { body: Buffer } {
  const { buffer, byteOffset, byteLength } = message.body
  return { ...message, body: Buffer.from(buffer, byteOffset, byteLength) }
}

function reviveError({
  code,
  message,
  fix,
  stack,
}: Extract<WorkerMessage, { error: unknown }>['error']): ExportError {
  const error = new ExportError(code, message, { fix })
  if (stack !== undefined) error.stack = stack
  return error
}
