import { checkLocation } from './destination.ts'
import { readProgress } from './progress.ts'
import { openQueue, type TaskCounts, type TaskQueue } from './queue.ts'
import { type QuotaState, readQuotaState } from './rate-limit/redis-rate-limiter.ts'
import { READ_RESULTS } from './read-results.ts'
import { openRunObjects, runStateOf } from './run-state.ts'
import { toQueueError } from './server/queue-error.ts'
import type { OpenRun, QueueAddress } from './server/shared-server.ts'
import { WRITE_RESULTS } from './write-results.ts'

/** A queue run: its tasks by state, its requests and the state of its quota. */
export type QueuedRun = {
  id: string
  name: string
  output: string
  tasks: { read: TaskStateCounts; write: TaskStateCounts }
  requests: number
  computeUnits: number
  quota: QuotaState
}

type TaskStateCounts = TaskCounts & { done: number }

/** Inspects a queue: the number of live workers and all open runs. */
export async function inspectQueue(address: QueueAddress): Promise<{ workers: number; runs: QueuedRun[] }> {
  const queue = await openQueue(address)
  try {
    const { runs } = await queue.server.runs()
    const inspected = await Promise.all(runs.map((run) => inspectRun(queue, run)))
    return { workers: (await queue.server.liveWorkers()).size, runs: inspected }
  } catch (thrown) {
    throw toQueueError(thrown)
  } finally {
    await queue.close()
  }
}

async function inspectRun(queue: TaskQueue, run: OpenRun) {
  const { id, name, output, quota } = run
  const done = await countCompleted(run)
  const read = { done: done.reads, ...(await queue.counts(id, 'read')) }
  const write = { done: done.writes, ...(await queue.counts(id, 'write')) }
  const { requests, computeUnits } = await readProgress(queue.server, id)
  const rate = await readQuotaState(queue.server.rateLimitState(quota))
  return { id, name, output, tasks: { read, write }, requests, computeUnits, quota: rate }
}

/** Counts the finished tasks in the run state; 0 if this machine may not access the location. */
async function countCompleted(run: OpenRun): Promise<{ reads: number; writes: number }> {
  if ((await checkLocation(run)) !== undefined) return { reads: 0, writes: 0 }
  const runState = runStateOf(await openRunObjects(run), run.attempt)
  try {
    return { reads: await READ_RESULTS.count(runState), writes: await WRITE_RESULTS.count(runState) }
  } finally {
    await runState.objects.close()
  }
}
