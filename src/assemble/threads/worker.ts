import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { toExportError } from '../../core/errors.ts'
import { openWriteTasks, type WriteContext } from './task.ts'
import { type GivenTask, ownMemory, type WorkerAnswer, withBuffer } from './thread.ts'

const tasks = openWriteTasks(workerData as WriteContext)
/** What is left to do, in the order of the telling. */
const left: (() => void)[] = []
/** Pages whose rows are still to be made, each parsed: some megabytes. While there are fewer, the next page is read first. */
const MOST_LEFT = 2

// A thread of the writing: whoever asked for a page goes on as soon as it is read; rows are made while no page waits.
parentPort?.on('message', (given: GivenTask) => {
  begin(given)
  for (;;) {
    const next = left.length < MOST_LEFT && parentPort !== null ? receiveMessageOnPort(parentPort) : undefined
    if (next !== undefined) begin(next.message as GivenTask)
    else if (left.length > 0) left.shift()?.()
    else return
  }
})
answer({ isReady: true })

function begin({ id, task }: GivenTask): void {
  if (task.kind !== 'read') left.push(() => answerWith(id, () => tasks.run(task)))
  else {
    answerFault(id, () => {
      const { page, stage } = tasks.read(withBuffer(task))
      answer({ id, page }, ownMemory(page.body))
      left.push(() => answerWith(id, stage))
    })
  }
}

function answerWith(id: number, act: () => unknown): void {
  answerFault(id, () => answer({ id, result: act() }))
}

function answerFault(id: number, act: () => void): void {
  try {
    act()
  } catch (thrown) {
    const { code, message, fix, stack } = toExportError(thrown)
    answer({ id, error: { code, message, fix, stack } })
  }
}

function answer(what: WorkerAnswer, memory: ArrayBuffer[] = []): void {
  parentPort?.postMessage(what, memory)
}
