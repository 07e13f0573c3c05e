import { parentPort, workerData } from 'node:worker_threads'
import { toExportError } from '../../core/model/errors.ts'
import { HUGE_BODY_BYTES } from '../../core/model/limits.ts'
import { collectGarbage } from '../../core/platform/collect-garbage.ts'
import { openWriteTasks, type WriteContext } from './task.ts'
import { ownMemory, type ThreadTask, type WorkerAnswer, withBuffer } from './thread.ts'

const tasks = openWriteTasks(workerData as WriteContext)

// A thread of the writing: does one task after the other, in the order of the telling, and answers each.
parentPort?.on('message', (task: ThreadTask) => {
  try {
    answer({ result: task.kind === 'read' ? readAndStage(task) : tasks.run(task) })
  } catch (thrown) {
    const { code, message, fix, stack } = toExportError(thrown)
    answer({ error: { code, message, fix, stack } })
  }
})
answer({ isReady: true })

/** The page is told at once: whoever asked for it goes on while its rows are made. */
function readAndStage(task: Extract<ThreadTask, { kind: 'read' }>) {
  const isHuge = task.body.length > HUGE_BODY_BYTES
  try {
    const { page, stage } = tasks.read(withBuffer(task))
    answer({ page }, ownMemory(page.body))
    return stage()
  } finally {
    if (isHuge) setImmediate(collectGarbage)
  }
}

function answer(what: WorkerAnswer, memory: ArrayBuffer[] = []): void {
  parentPort?.postMessage(what, memory)
}
