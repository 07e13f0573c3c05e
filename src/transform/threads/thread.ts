import { Worker } from 'node:worker_threads'
import { ExportError, toExportError } from '../../core/model/errors.ts'
import { PACKAGE } from '../../core/model/version.ts'
import { isPooledBuffer } from '../../http/body.ts'
import { sourceOf } from '../../sources/index.ts'
import type { Page } from '../../sources/source.ts'
import { type PackedPage, unpackPage } from './packed-page.ts'
import type { PageTask, WriteContext, WriteTask } from './task.ts'

/** A task as posted to a thread. */
export type ThreadTask = WriteTask | ({ kind: 'read' } & PageTask) | { kind: 'answer'; body: Buffer }

/**
 * Messages of a thread: `result` or `error` once per task. A `read` task is answered with `page` first.
 */
export type WorkerMessage =
  | { page: PackedPage }
  | { result: unknown }
  | { error: Pick<ExportError, 'code' | 'message' | 'fix' | 'isPermanent'> & { stack: string | undefined } }

/** A task and its callbacks. */
export type QueuedTask<T extends ThreadTask = ThreadTask> = {
  task: T
  /** Called with the page of a `read` task before its rows are staged. */
  onPage?: (page: Page) => void
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

/** A worker thread that runs write tasks one at a time, in the order in which they are posted. */
export type WriteThread = {
  /** Number of posted tasks without a result. */
  readonly tasks: number
  post(entry: QueuedTask): void
  /** Terminates the thread and rejects its tasks. Resolves when the thread has exited. */
  close(reason: ExportError): Promise<void>
}

export type ThreadEvents = {
  /** Called after the result or error of a task has arrived. */
  onResult: () => void
  /** Called if the thread exits before it is closed. Its tasks have been rejected. */
  onCrash: (reason: ExportError) => void
}

const WORKER = new URL('dist/transform/threads/worker.js', PACKAGE)
/**
 * Worker threads are available only in the compiled program (`dist`), because they load compiled JavaScript.
 */
export const CAN_THREAD = import.meta.url.endsWith('.js')

/**
 * A page's objects live until its rows are staged, and few of them longer. With V8's default of 48 MB for young objects, a
 * thread takes 35 MB more memory, and no less processor time. Answers of which pages are composed live longer: with the
 * default, their export takes 7 % less processor time.
 */
const limitsFor = ({ api }: WriteContext) =>
  sourceOf(api).readAnswer === undefined ? { maxYoungGenerationSizeMb: 24 } : {}

export function openWriteThread(context: WriteContext, { onResult, onCrash }: ThreadEvents): WriteThread {
  /** Posted tasks, in the order in which their results arrive. */
  const queue: QueuedTask[] = []
  // Options of this process, such as --input-type, may not be valid for a file.
  const worker = new Worker(WORKER, { workerData: context, execArgv: [], resourceLimits: limitsFor(context) })
  let isClosed = false
  const rejectAll = (reason: ExportError) => {
    for (const { reject } of queue.splice(0)) reject(reason)
  }
  const crash = (reason: ExportError) => {
    rejectAll(reason)
    if (!isClosed) onCrash(reason)
    isClosed = true
  }
  const complete = (message: Exclude<WorkerMessage, { page: PackedPage }>) => {
    const entry = queue.shift()
    if ('error' in message) entry?.reject(reviveError(message.error))
    else entry?.resolve(message.result)
    onResult()
  }
  worker.on('message', (message: WorkerMessage) => {
    if ('page' in message) queue[0]?.onPage?.(unpackPage(withBuffer(message.page)))
    else complete(message)
  })
  worker.on('error', (error) => crash(toExportError(error)))
  worker.on('exit', () => crash(new ExportError('BUG', 'a write thread exited unexpectedly')))
  return {
    get tasks() {
      return queue.length
    },
    post: (entry) => {
      queue.push(entry)
      worker.postMessage(entry.task, 'body' in entry.task ? transferableMemory(entry.task.body) : [])
    },
    close: async (reason) => {
      isClosed = true
      rejectAll(reason)
      await worker.terminate()
    },
  }
}

/**
 * Returns the memory of a buffer if it can be transferred to another thread without a copy, that is, if it
 * holds nothing else; otherwise an empty list, and the bytes are copied.
 */
export function transferableMemory({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  const isOwn = buffer.byteLength === byteLength || isPooledBuffer(buffer)
  return isOwn && buffer instanceof ArrayBuffer ? [buffer] : []
}

/** Turns `body` back into a Buffer: a structured clone turns Buffers into plain Uint8Arrays. */
export function withBuffer<T extends { body: Uint8Array }>(message: T): T & { body: Buffer } {
  const { buffer, byteOffset, byteLength } = message.body
  return { ...message, body: Buffer.from(buffer, byteOffset, byteLength) }
}

function reviveError({
  code,
  message,
  fix,
  isPermanent,
  stack,
}: Extract<WorkerMessage, { error: unknown }>['error']): ExportError {
  const error = new ExportError(code, message, { fix, isPermanent })
  if (stack !== undefined) error.stack = stack
  return error
}
