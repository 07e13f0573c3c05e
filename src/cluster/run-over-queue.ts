import { removeSpool } from '../checkpoint/open-checkpoint.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { type Figures, newFigures } from '../core/model/run-stats.ts'
import { GENERATOR } from '../core/model/version.ts'
import { type JobResult, noticeLeft, runExport } from '../export/export-job.ts'
import { keepRunReport } from '../export/history/run-report.ts'
import { requireService } from '../export/open-request-context.ts'
import { privateFolder } from '../export/private-folder.ts'
import { findExport } from '../export/resume/find-export.ts'
import { type Earlier, nothingEarlier } from '../export/resume/previous-export.ts'
import { newRunId, type RunResult, requireDistinctOutputs, worstCode } from '../export/run.ts'
import { type Bounds, type StartedBounds, startBounds } from '../http/run-limits.ts'
import { nameOfOutput } from '../storage/bucket-url.ts'
import type { Objects } from '../storage/object-folder.ts'
import type { Store } from '../storage/store.ts'
import { coordinate } from './coordinator.ts'
import { resolveDestination } from './destination.ts'
import { checkQueueJob, differingSettings, type Plan, planAttempt, type QueueJob } from './plan.ts'
import { openQueue, type UnitQueue } from './queue.ts'
import { quotaName } from './rate-limit/shared-rate-limit-state.ts'
import { forgetRefused } from './read-results.ts'
import { sealRun } from './run-entry.ts'
import { beginAttempt, endAttempt, openRunObjects, readCurrent, readPlan, recordOf } from './run-state.ts'
import type { OpenRun, QueueAddress } from './server/shared-server.ts'

/** How jobs are run by workers on many machines. */
export type QueueRunOptions = Pick<Bounds, 'deadlineMs' | 'signal'> & {
  /** The Redis server that all machines reach. */
  queue: QueueAddress
  apiKey?: string | undefined
  /** Send the key unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  fresh?: boolean
  onNotice?: (notice: string) => void
  onStart?: (jobs: readonly { job: Job; figures: Figures }[]) => void
}

/** Plans jobs, has workers do their units, and publishes the exports. Throws USAGE for what a queue run does not take. */
export async function runOverQueue(jobs: readonly Job[], options: QueueRunOptions): Promise<RunResult> {
  requireDistinctOutputs(jobs)
  for (const job of jobs) requireService(job, { ...options, apiKey: options.apiKey })
  const checked = jobs.map((job) => {
    return { ...checkQueueJob(job), figures: newFigures(job.wallets.length, Date.now()) }
  })
  const queue = await openQueue(options.queue)
  const bounds = startBounds(options, 'the run was aborted')
  const id = newRunId()
  options.onStart?.(checked)
  try {
    const running = { queue, options, bounds, id }
    const results = await Promise.all(checked.map((one) => runJob(one, running)))
    return { id, jobs: results, code: worstCode(results) }
  } finally {
    bounds.end()
    await queue.close()
  }
}

type Checked = QueueJob & { figures: Figures }
type Running = { queue: UnitQueue; options: QueueRunOptions; bounds: StartedBounds; id: string }

async function runJob(checked: Checked, running: Running): Promise<JobResult & { figures: Figures }> {
  const { job, figures } = checked
  const { fresh = false, onNotice = () => {} } = running.options
  const held = { job, figures, fresh, onNotice }
  const result = await runExport(held, (store) => runAttempt({ ...checked, ...held, store, running }))
  await keepRunReport({ id: running.id, ...result, figures }, onNotice)
  return { ...result, figures }
}

/** A job whose output this process holds. */
type Held = Checked & { fresh: boolean; onNotice: (notice: string) => void; store: Store; running: Running }

async function runAttempt(held: Held): Promise<JobResult['state']> {
  const { job, running } = held
  const { queue, bounds, options } = running
  const { apiKey, allowPlainHttp } = options
  const { signal, noteWait } = bounds
  const objects = await openRunObjects(job)
  try {
    const { plan, earlier } = await findAttempt(held, objects)
    noticeLeft(held, earlier)
    const record = recordOf(objects, plan.attempt)
    const run = enterRun(plan, apiKey)
    await forgetRefused(record, plan)
    await queue.clear(plan.id)
    const asking = { apiKey, allowPlainHttp, signal, noteWait }
    await coordinate({ ...held, ...asking, plan, record, queue, run, earlier })
      .catch(failQueue)
      .finally(() => leave(queue, plan.id))
    // What an earlier run on one machine has kept is not of this export.
    await removeSpool(privateFolder(job))
    await endAttempt(record)
    return 'complete'
  } finally {
    await objects.close()
  }
}

/** The attempt that goes on, or a new one. Throws OUTPUT_CHANGED where the output is another job's. */
async function findAttempt(held: Held, objects: Objects): Promise<{ plan: Plan; earlier: Earlier }> {
  const { job, fresh, store, onNotice } = held
  const before = fresh ? undefined : await findPlan(job, objects)
  const isFresh = fresh || before?.isFresh === true
  const found = isFresh ? undefined : await findExport(job, store)
  const earlier = nothingEarlier(job, found)
  const destination = await resolveDestination(job)
  const next = planAttempt({ ...held, destination, found: found?.manifest, isFresh, now: Date.now() })
  const isSame = (one: Plan) => one.sha256 === next.sha256 && one.output === next.output
  if (before !== undefined && isSame(before)) {
    onNotice(`${job.name}: an unfinished run is continued`)
    return { plan: before, earlier }
  }
  if (before !== undefined)
    onNotice(`${job.name}: the output has changed since an unfinished run began, which begins anew`)
  await beginAttempt(objects, next)
  return { plan: next, earlier }
}

/** The plan of an unfinished run of this job. Throws OUTPUT_CHANGED where it is another job's, or another version's. */
async function findPlan(job: Job, objects: Objects): Promise<Plan | undefined> {
  const attempt = await readCurrent(objects)
  const plan = attempt === undefined ? undefined : await readPlan(recordOf(objects, attempt))
  if (plan === undefined) return undefined
  const differing = differingSettings(plan.job, job)
  if (plan.version === GENERATOR && differing.length === 0) return plan
  const what =
    plan.version === GENERATOR
      ? `another job, which differs in ${differing.join(', ')}`
      : `another version: ${plan.version}, and this is ${GENERATOR}`
  throw new ExportError('OUTPUT_CHANGED', `${nameOfOutput(job)} holds an unfinished queue run of ${what}`)
}

/** The entry by which workers find a run. */
function enterRun({ id, job, attempt, version, output, store }: Plan, apiKey: string | undefined): OpenRun {
  const quota = quotaName({ baseUrl: job.service.baseUrl ?? '', apiKey })
  const run = { id, name: job.name, attempt, version, output, store, quota }
  return { ...run, seal: sealRun(run, apiKey) }
}

/** Redis answers with an error where others have put something else in the place of the queue. */
function failQueue(thrown: unknown): never {
  if (!(thrown instanceof Error) || thrown.name !== 'ReplyError') throw thrown
  throw new ExportError('QUEUE_UNAVAILABLE', `the queue cannot be used: ${thrown.message}`, { cause: thrown })
}

/** Workers leave the run alone; where the queue is away, they do so once nothing is there to do. */
async function leave(queue: UnitQueue, id: string): Promise<void> {
  const gone = queue.server.withdraw(id).then(() => queue.clear(id))
  const late = new Promise((done) => setTimeout(done, LEAVE_MS).unref())
  await Promise.race([gone.catch(() => undefined), late])
}

const LEAVE_MS = 5_000
