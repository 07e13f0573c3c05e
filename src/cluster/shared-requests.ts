import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { JobRun } from '../export/export-job.ts'
import {
  knownRateOf,
  openRequestContext,
  type RequestContextOptions,
} from '../export/open-request-context.ts'
import type { PreviousExport } from '../export/resume/previous-export.ts'
import type { RequestContext } from '../http/request.ts'
import type { Store } from '../storage/store.ts'
import type { Plan } from './plan.ts'
import type { TaskQueue } from './queue.ts'
import { createRedisRateLimiter } from './rate-limit/redis-rate-limiter.ts'
import type { RunState } from './run-state.ts'
import type { OpenRun, SharedServer } from './server.ts'

/** A queue run in the process that coordinates it. It holds the lock of the output. */
export type QueueRun = JobRun &
  Pick<RequestContextOptions, 'apiKey' | 'allowPlainHttp' | 'checkWait'> & {
    store: Store
    plan: Plan
    runState: RunState
    previous: PreviousExport
    queue: TaskQueue
    /** Its entry in the queue. */
    run: OpenRun
  }

type SharedContextOptions = Pick<
  RequestContextOptions,
  'apiKey' | 'allowPlainHttp' | 'limit' | 'signal' | 'stats' | 'checkWait' | 'onNotice'
> & { plan: Plan; run: OpenRun }

/** Opens the request context of a run, with the rate limiter that all its machines share. */
export function openSharedRequestContext(server: SharedServer, options: SharedContextOptions) {
  const { plan, run } = options
  const store = server.rateLimitState(run.quota)
  const rateLimiter = createRedisRateLimiter(store, { knownPerMs: knownRateOf([plan.job]) })
  return openRequestContext(plan.job, { ...options, demoUrl: undefined, rateLimiter, countRequest: () => {} })
}

/** Makes requests of the coordinator, and adds them to the counters of the run. */
export async function withRequests<T>(
  queueRun: QueueRun,
  concurrency: number,
  use: (requestContext: RequestContext, stats: RunStats) => Promise<T>,
): Promise<T> {
  const { queue, plan, run } = queueRun
  const stats = newRunStats(plan.job.wallets.length, Date.now())
  const limit = limitConcurrency(concurrency)
  const { requestContext, close } = openSharedRequestContext(queue.server, { ...queueRun, limit, stats })
  try {
    return await use(requestContext, stats)
  } finally {
    await close()
    await queue.server.addProgress(run.id, { stats, reported: {} })
  }
}
