import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from '../../core/errors.ts'
import type { SliceContext } from '../write-slice.ts'
import { openWriteTasks, type WriteTask } from './task.ts'
import type { WorkerAnswer } from './thread.ts'

const tasks = openWriteTasks(workerData as SliceContext)
let work: Promise<unknown> = Promise.resolve()

// A thread of the writing: does one task after the other, in the order of the telling, and answers each.
parentPort?.on('message', (task: WriteTask) => {
  work = work.then(async () => parentPort?.postMessage(await answerTo(task)))
})

function answerTo(task: WriteTask): Promise<WorkerAnswer> {
  return tasks.run(task).then(
    (result) => ({ result }),
    (thrown: unknown) => {
      const { code, message, fix, stack } = toExportError(thrown)
      return { error: { code, message, fix, stack } }
    },
  )
}
