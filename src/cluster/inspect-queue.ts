import { refusePlace } from './destination.ts'
import { readTally } from './progress.ts'
import { openQueue, type UnitCounts, type UnitQueue } from './queue.ts'
import { type QuotaState, readQuota } from './rate-limit/shared-rate-limit-state.ts'
import { READS } from './read-results.ts'
import { openRunObjects, recordOf } from './run-state.ts'
import type { OpenRun, QueueAddress } from './server/shared-server.ts'
import { WRITES } from './write-results.ts'

/** A run over a queue: its units by what has become of them, its requests, and the rate of its quota. */
export type QueuedRun = {
  id: string
  name: string
  output: string
  units: { read: DoneCounts; write: DoneCounts }
  requests: number
  quota: QuotaState
}

type DoneCounts = UnitCounts & { done: number }

/** What goes on over a queue: workers that are alive, and the runs that are open. */
export async function inspectQueue(address: QueueAddress): Promise<{ workers: number; runs: QueuedRun[] }> {
  const queue = await openQueue(address)
  try {
    const { runs } = await queue.server.runs()
    const inspected = await Promise.all(runs.map((run) => inspectRun(queue, run)))
    return { workers: (await queue.server.workers()).size, runs: inspected }
  } finally {
    await queue.close()
  }
}

async function inspectRun(queue: UnitQueue, run: OpenRun) {
  const { id, name, output, quota } = run
  const done = await countDone(run)
  const read = { done: done.reads, ...(await queue.counts(id, 'read')) }
  const write = { done: done.writes, ...(await queue.counts(id, 'write')) }
  const { requests } = await readTally(queue.server, id)
  const rate = await readQuota(queue.server.book(quota))
  return { id, name, output, units: { read, write }, requests, quota: rate }
}

/** What the record has; nothing of a place that this machine does not look into. */
async function countDone(run: OpenRun): Promise<{ reads: number; writes: number }> {
  if ((await refusePlace(run)) !== undefined) return { reads: 0, writes: 0 }
  const record = recordOf(await openRunObjects(run), run.attempt)
  try {
    return { reads: await READS.count(record), writes: await WRITES.count(record) }
  } finally {
    await record.objects.close()
  }
}
