import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from './errors.ts'
import type { SliceContext } from './write-slice.ts'
import { runWriteTask, type WriteTask } from './write-task.ts'
import type { WorkerAnswer } from './write-threads.ts'

// One thread of the writing: takes one task after the other and answers each.
parentPort?.on('message', async (task: WriteTask) => {
  const answer: WorkerAnswer = await runWriteTask(task, workerData as SliceContext).then(
    (result) => ({ result }),
    (thrown: unknown) => {
      const { code, message, fix, stack } = toExportError(thrown)
      return { error: { code, message, fix, stack } }
    },
  )
  parentPort?.postMessage(answer)
})
