import { setImmediate } from 'node:timers/promises'
import { ExportError } from '../../core/errors.ts'
import { limitConcurrency } from '../../core/limit.ts'
import { keepHeapSmaller, shrinkHeap } from '../../core/v8.ts'
import { loadDuckDb } from '../../write/duckdb.ts'
import { LONG_BYTES } from '../../write/parquet.ts'
import type { SliceContext } from '../write-slice.ts'
import { openWriteTasks, type WriteResult, type WriteTask } from './task.ts'
import { canOpenThread, openWriteThread, type WriteThread } from './thread.ts'

/**
 * Does the tasks of the writing: in this thread while they are small, in one of their own from then on, if there may be
 * one. This one lends a hand where nothing is left to read and many slices are: with few, it costs more compiling than it
 * saves.
 */
export type WritePool = {
  /** Tells that so many more bytes will have to be done: a thread takes a while to start. */
  expect(bytes: number): void
  /**
   * Tells that all is read. What much of it leaves in memory goes where a thread does the rest, and what is needed after
   * that is made ready meanwhile. Never rejects.
   */
  expectNoMore(): Promise<void>
  /**
   * `bytes`: how much there is to do. Slices come first, tables after all of them, the largest first. Rejects with what
   * the task threw, and always once the pool is closed. While a condense is under way nothing else is to be asked for: it
   * ends the thread.
   */
  run<T extends WriteTask>(task: T, bytes: number): Promise<WriteResult<T>>
  /** Gives up what is under way; resolves when nothing is. */
  close(): Promise<void>
}

/** So little is done before a thread has started. */
const SMALL_BYTES = 1_000_000
/**
 * DuckDB works beside this thread, which prepares what is next. Each copy has memory of its own, and more of it in use
 * the longer it takes: long ones go one after the other.
 */
const parquetAtOnce = (bytes: number) => (bytes > LONG_BYTES ? 1 : 2)
/** So many, long or not, all jobs of the process together. */
const limitCopies = limitConcurrency(2)
/** So many slices must wait for the thread where this one begins to help: more where DuckDB takes what time there is. */
const MANY_WAIT = { csv: 16, parquet: 64 }
/** And where it goes on. */
const SOME_WAIT = 2
const SLICES_TO_SHRINK = 8
/** After so many bytes of pages what they left in memory goes: pages are short-lived, and leave more the longer it goes on. */
const [FIRST_SHRINK, SHRINK_EVERY] = [160_000_000, 40_000_000]

export function openWritePool(context: SliceContext): WritePool {
  /** What the close has to wait for, beside the thread. */
  const here = new Set<Promise<unknown>>()
  const tasks = openWriteTasks(context)
  const stop = new AbortController()
  let thread: WriteThread | undefined
  let [expected, begun] = [0, 0]
  let shrinkAt = FIRST_SHRINK
  let isClosed = false
  let [isAllRead, isHelping] = [false, false]
  /** Rows of more than a little were made here. */
  let hasMade = false
  const requireOpen = () => {
    if (isClosed) throw new ExportError('BUG', 'the writing was given up')
  }
  const runHere = (task: WriteTask) => {
    // There may be many jobs in this thread, and few open files allowed.
    const work = tasks.run(task, stop.signal).finally(tasks.close)
    here.add(work)
    return work.finally(() => here.delete(work))
  }
  const startIfMuch = (bytes: number) => {
    if (bytes < SMALL_BYTES || isClosed || thread !== undefined || !canOpenThread()) return
    thread = openWriteThread(context)
  }
  const lendHand = async () => {
    isHelping = true
    // What else there is to do is asked for in this turn.
    await setImmediate()
    let one = thread?.handOver(MANY_WAIT[context.format])
    hasMade ||= one !== undefined
    for (let done = 1; one !== undefined; done += 1) {
      await runHere(one.task).then(one.resolve, one.reject)
      if (done % SLICES_TO_SHRINK === 0) await shrinkHeap()
      // What the thread says and what a signal does comes between.
      await setImmediate()
      one = thread?.handOver(SOME_WAIT)
    }
    isHelping = false
  }
  /** The next task starts another, with less in memory. */
  const endThread = async () => {
    const ended = thread?.close() ?? Promise.resolve()
    thread = undefined
    here.add(ended)
    await ended
    here.delete(ended)
  }
  let limitParquet: ReturnType<typeof limitConcurrency> | undefined
  let parquetMemory: Promise<void> | undefined
  /** What the thread, which has nothing left to do, and rows hold goes before DuckDB asks for memory. */
  const makeRoom = async () => {
    await thread?.close()
    if (hasMade) await shrinkHeap()
  }
  const runParquet = (task: WriteTask, bytes: number) => {
    limitParquet ??= limitConcurrency(parquetAtOnce(bytes))
    return limitParquet(async () => {
      parquetMemory ??= makeRoom()
      await parquetMemory
      return limitCopies(() => {
        requireOpen()
        return runHere(task)
      })
    })
  }
  /** Bytes of tables that the thread was given more than this one keeps. */
  let lead = 0
  /** Tables are copied more than worked on: as many as the thread has are made here. */
  const staysHere = (bytes: number) => {
    const stays = bytes <= lead
    lead += stays ? -bytes : bytes
    return stays
  }
  return {
    expect: (bytes) => {
      expected += bytes
      startIfMuch(expected)
      if (expected < shrinkAt) return
      shrinkAt += SHRINK_EVERY
      keepHeapSmaller()
      void shrinkHeap()
    },
    expectNoMore: async () => {
      isAllRead = true
      // What is left to do is asked for first.
      await setImmediate()
      if (thread === undefined) return
      // What a short run leaves is not worth the while that this takes.
      if (shrinkAt > FIRST_SHRINK) await shrinkHeap()
      // Where it fails, it will again when it is needed.
      if (context.format === 'parquet') await loadDuckDb().catch(() => undefined)
    },
    run: async <T extends WriteTask>(task: T, bytes: number) => {
      requireOpen()
      if (task.kind === 'table' && context.format === 'parquet')
        return (await runParquet(task, bytes)) as WriteResult<T>
      if (task.kind !== 'table') begun += bytes
      startIfMuch(Math.max(begun, bytes))
      const taker = task.kind === 'table' && staysHere(bytes) ? undefined : thread
      hasMade ||= taker === undefined && task.kind === 'slice' && begun >= SMALL_BYTES
      const work = taker?.run(task) ?? runHere(task)
      if (isAllRead && !isHelping && task.kind === 'slice') void lendHand()
      const result = await work
      if (task.kind === 'condense') await endThread()
      return result as WriteResult<T>
    },
    close: async () => {
      isClosed = true
      stop.abort()
      await thread?.close()
      await Promise.allSettled(here)
    },
  }
}
