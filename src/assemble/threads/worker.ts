import { setImmediate } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { toExportError } from '../../core/errors.ts'
import { collectGarbage } from '../../core/v8.ts'
import type { SliceContext } from '../write-slice.ts'
import { openWriteTasks, type WriteTask, type WriteTasks } from './task.ts'
import { STOP, type WorkerAnswer } from './thread.ts'

// How far a heap may grow is one setting for all threads; it holds from the first collection on.
collectGarbage()

const stop = new AbortController()
let tasks: WriteTasks | undefined
let work: Promise<unknown> = Promise.resolve()

// The thread of the writing: is told what all tasks share, then does one after the other and answers each, until it is
// told to stop.
parentPort?.on('message', (told: SliceContext | WriteTask | typeof STOP) => {
  if (told === STOP) stop.abort()
  work = work.then(async () => {
    if (stop.signal.aborted) process.exit()
    if (tasks === undefined) tasks = openWriteTasks(told as SliceContext)
    else {
      parentPort?.postMessage(await answerTo(tasks, told as WriteTask))
      // Messages are heard once a turn: the first wait ends within this one.
      await setImmediate()
      await setImmediate()
    }
  })
})

function answerTo(tasks: WriteTasks, task: WriteTask): Promise<WorkerAnswer> {
  return tasks.run(task, stop.signal).then(
    (result) => ({ result }),
    (thrown: unknown) => {
      const { code, message, fix, stack } = toExportError(thrown)
      return { error: { code, message, fix, stack } }
    },
  )
}
