import { type QuotaState, readQuota } from '../client/gate/quota-book.ts'
import { openQueue, type UnitCounts, type UnitQueue } from './queue.ts'
import { listPages, listPartitions, openRecord } from './record.ts'
import type { OpenRun } from './server/shared-server.ts'
import { readTally } from './tally.ts'

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
export async function inspectQueue(url: string): Promise<{ workers: number; runs: QueuedRun[] }> {
  const queue = await openQueue(url)
  try {
    const runs = await queue.server.runs()
    const inspected = await Promise.all(runs.map((run) => inspectRun(queue, run)))
    return { workers: (await queue.server.workers()).size, runs: inspected }
  } finally {
    await queue.close()
  }
}

async function inspectRun(queue: UnitQueue, run: OpenRun) {
  const { id, name, output, quota } = run
  const record = await openRecord(run)
  try {
    const read = { done: (await listPages(record)).length, ...(await queue.counts(id, 'read')) }
    const write = { done: (await listPartitions(record)).length, ...(await queue.counts(id, 'write')) }
    const { requests } = await readTally(queue.server, id)
    const rate = await readQuota(queue.server.book(quota))
    return { id, name, output, units: { read, write }, requests, quota: rate }
  } finally {
    await record.close()
  }
}
