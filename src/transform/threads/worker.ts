import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from '../../core/model/errors.ts'
import { HUGE_BODY_BYTES } from '../../core/model/limits.ts'
import { collectGarbage } from '../../core/platform/collect-garbage.ts'
import { packPage } from './packed-page.ts'
import { openTaskRunner, type WriteContext } from './task.ts'
import { type ThreadTask, transferableMemory, type WorkerMessage, withBuffer } from './thread.ts'

const runner = openTaskRunner(workerData as WriteContext)

// Entry point of a write thread: runs tasks in the order in which they are posted and sends one result or
// error per task.
parentPort?.on('message', (task: ThreadTask) => {
  try {
    if (task.kind === 'answer') {
      const answer = runner.readAnswer?.(withBuffer(task).body)
      send({ result: answer }, answer && transferableMemory(answer.body))
    } else send({ result: task.kind === 'read' ? readAndStage(task) : runner.run(task) })
  } catch (error) {
    const { code, message, fix, isPermanent, stack } = toExportError(error)
    send({ error: { code, message, fix, isPermanent, stack } })
  }
})

/** Sends the page before staging its rows, so that the reader can request the next page meanwhile. */
function readAndStage(task: Extract<ThreadTask, { kind: 'read' }>) {
  const isHuge = task.body.length > HUGE_BODY_BYTES
  try {
    const { page, stage } = runner.read(withBuffer(task))
    send({ page: packPage(page) }, transferableMemory(page.body))
    return stage()
  } finally {
    if (isHuge) setImmediate(collectGarbage)
  }
}

function send(message: WorkerMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
