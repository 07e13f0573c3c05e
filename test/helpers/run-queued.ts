import { type QueueRunOptions, runOverQueue } from '../../src/cluster/run-over-queue.ts'
import { runWorker } from '../../src/cluster/worker.ts'
import type { Job } from '../../src/core/model/model.ts'

/** Runs a job over a queue with one worker, both in this process. */
export async function runQueued(url: string, job: Job, options: Partial<QueueRunOptions> = {}) {
  const stop = new AbortController()
  const queue = { url }
  const worker = runWorker({ queue, signal: stop.signal, concurrency: 2, shutdownMs: 0, onNotice: () => {} })
  try {
    const result = await runOverQueue([job], { queue, ...options })
    const { error, stats, state } = result.jobs[0] ?? {}
    return { ...result, code: result.code, error, figures: stats, state }
  } finally {
    stop.abort()
    await worker
  }
}
