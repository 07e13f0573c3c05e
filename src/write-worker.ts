import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from './errors.ts'
import { keepHeapSmall } from './heap.ts'
import type { SliceContext } from './write-slice.ts'
import { openWriteTasks, type WriteTask } from './write-task.ts'
import { STOP, type WorkerAnswer } from './write-threads.ts'

keepHeapSmall()

const runTask = openWriteTasks(workerData as SliceContext)
const stop = new AbortController()
let work: Promise<unknown> = Promise.resolve()

// One thread of the writing: takes one task after the other and answers each, until it is told to stop.
parentPort?.on('message', async (task: WriteTask | typeof STOP) => {
  if (task === STOP) {
    stop.abort()
    await work
    process.exit()
  }
  const answering = answerOf(task)
  work = answering
  parentPort?.postMessage(await answering)
})

function answerOf(task: WriteTask): Promise<WorkerAnswer> {
  return runTask(task, stop.signal).then(
    (result) => ({ result }),
    (thrown: unknown) => {
      const { code, message, fix, stack } = toExportError(thrown)
      return { error: { code, message, fix, stack } }
    },
  )
}
