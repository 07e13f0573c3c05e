import { resolve } from 'node:path'
import { type Bounds, startBounds } from '../client/bounds.ts'
import { quotaName } from '../client/gate/quota-book.ts'
import { requireService } from '../client/open-requester.ts'
import { toExportError } from '../core/errors.ts'
import { endFigures, type Figures, newFigures } from '../core/figures.ts'
import { lockOutput } from '../core/lock/lock.ts'
import type { Job } from '../core/model.ts'
import { keepRunReport } from '../report/run-report.ts'
import { isDone, markDone } from '../run/done.ts'
import type { JobResult } from '../run/export-job.ts'
import { privateFolder } from '../run/private-folder.ts'
import { newRunId, type RunResult, worstCode } from '../run/run.ts'
import { openStore } from '../store/open-store.ts'
import { nameOfOutput } from '../store/place.ts'
import type { Store } from '../store/store.ts'
import { coordinate } from './coordinate.ts'
import { planRun } from './plan.ts'
import { openQueue, type UnitQueue } from './queue.ts'
import { keepPlan, openRecord, type Record } from './record.ts'

/** How jobs are run by workers on many machines. */
export type QueueRunOptions = Pick<Bounds, 'deadlineMs' | 'signal'> & {
  /** URL of the Redis server that all machines reach. */
  queue: string
  apiKey?: string | undefined
  fresh?: boolean
  onNotice?: (notice: string) => void
  onStart?: (jobs: readonly { job: Job; figures: Figures }[]) => void
}

/** Plans jobs, has workers do their units, and publishes the exports. Throws USAGE for what a queue run does not take. */
export async function runOverQueue(jobs: readonly Job[], options: QueueRunOptions): Promise<RunResult> {
  for (const job of jobs) requireService(job)
  const planned = jobs.map((job) => {
    return { job, plan: planRun(job), figures: newFigures(job.wallets.length, Date.now()) }
  })
  const queue = await openQueue(options.queue)
  const bounds = startBounds(options, 'the run was aborted')
  const id = newRunId()
  options.onStart?.(planned)
  try {
    const running = { queue, options, signal: bounds.signal, id }
    const results = await Promise.all(planned.map((one) => runPlan(one, running)))
    return { id, jobs: results, code: worstCode(results) }
  } finally {
    bounds.end()
    await queue.close()
  }
}

type Planned = { job: Job; plan: ReturnType<typeof planRun>; figures: Figures }
type Running = { queue: UnitQueue; options: QueueRunOptions; signal: AbortSignal; id: string }

async function runPlan(planned: Planned, running: Running): Promise<JobResult & { figures: Figures }> {
  const { job, figures } = planned
  const result = await runLocked(planned, running).catch((thrown: unknown): JobResult => {
    return { job, state: 'failed', error: toExportError(thrown) }
  })
  endFigures(figures, result.error)
  await keepRunReport({ id: running.id, ...result, figures }, running.options.onNotice)
  return { ...result, figures }
}

async function runLocked(planned: Planned, running: Running): Promise<JobResult> {
  const { job, plan } = planned
  const release = await lockOutput(privateFolder(job))
  try {
    const store = await openStore(job)
    const record = await openRecord(job)
    try {
      return { job, state: await runOpened(planned, { ...running, store, record }), error: undefined }
    } finally {
      await leave(running, plan.id)
      await record.close()
      await store.close()
    }
  } finally {
    await release()
  }
}

async function runOpened(
  { job, plan, figures }: Planned,
  { queue, options, signal, store, record }: Running & { store: Store; record: Record },
): Promise<JobResult['state']> {
  if (options.fresh) await record.clear()
  else if (await isDone(job, store)) return 'unchanged'
  await keepPlan(record, plan)
  await queue.clear(plan.id)
  const { service, name } = job
  const quota = quotaName({ baseUrl: service.baseUrl ?? '', apiKey: options.apiKey })
  const output = job.store === undefined ? resolve(job.output) : nameOfOutput(job)
  const run = { id: plan.id, name, output, store: job.store, quota }
  const onNotice = options.onNotice ?? (() => {})
  await coordinate({ plan, record, store, queue, run, figures, signal, onNotice })
  await markDone(job)
  await record.clear()
  return 'complete'
}

/** Workers leave the run alone; where the queue is away, they do so once nothing is there to do. */
async function leave({ queue }: Running, id: string): Promise<void> {
  const gone = queue.server.withdraw(id).then(() => queue.clear(id))
  const late = new Promise((done) => setTimeout(done, LEAVE_MS).unref())
  await Promise.race([gone.catch(() => undefined), late])
}

const LEAVE_MS = 5_000
