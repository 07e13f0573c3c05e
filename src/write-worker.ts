import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from './errors.ts'
import { keepHeapSmall } from './v8.ts'
import type { SliceContext } from './write-slice.ts'
import { openWriteTasks, type WriteTask } from './write-task.ts'
import { STOP, type WorkerAnswer } from './write-thread.ts'

keepHeapSmall()

const tasks = openWriteTasks(workerData as SliceContext)
const stop = new AbortController()
let work: Promise<unknown> = Promise.resolve()

// The thread of the writing: does one task after the other and answers each, until it is told to stop.
parentPort?.on('message', (task: WriteTask | typeof STOP) => {
  if (task === STOP) stop.abort()
  work = work.then(async () => {
    if (stop.signal.aborted) process.exit()
    parentPort?.postMessage(await answerTo(task as WriteTask))
  })
})

function answerTo(task: WriteTask): Promise<WorkerAnswer> {
  return tasks.run(task, stop.signal).then(
    (result) => ({ result }),
    (thrown: unknown) => {
      const { code, message, fix, stack } = toExportError(thrown)
      return { error: { code, message, fix, stack } }
    },
  )
}
