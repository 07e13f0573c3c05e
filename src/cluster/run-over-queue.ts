import { removeFeeLog } from '../checkpoint/fees.ts'
import { removeCheckpoint } from '../checkpoint/open-checkpoint.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { GENERATOR } from '../core/model/version.ts'
import { type JobResult, type JobRun, noticeRemovedWallets, runExport } from '../export/export-job.ts'
import { saveRunReport } from '../export/history/run-report.ts'
import { requireService } from '../export/open-request-context.ts'
import { privateFolder } from '../export/private-folder.ts'
import { findExport } from '../export/resume/find-export.ts'
import { noPreviousExport, type PreviousExport } from '../export/resume/previous-export.ts'
import { newRunId, type RunResult, requireDistinctOutputs, worstCode } from '../export/run.ts'
import { type RunLimits, startRunLimits } from '../http/run-limits.ts'
import { outputName } from '../storage/bucket-url.ts'
import type { ObjectFolder } from '../storage/object-folder.ts'
import type { Store } from '../storage/store.ts'
import { coordinate } from './coordinator.ts'
import { resolveDestination } from './destination.ts'
import { checkQueueJob, differingSettings, type Plan, planAttempt, type QueueJob } from './plan.ts'
import { openQueue, type TaskQueue } from './queue.ts'
import { quotaKey } from './rate-limit/redis-rate-limiter.ts'
import { removeIncompleteReads } from './read-results.ts'
import {
  beginAttempt,
  endAttempt,
  openRunObjects,
  readCurrentAttempt,
  readPlan,
  runStateOf,
} from './run-state.ts'
import { type OpenRun, type QueueAddress, signRun, toQueueError } from './server.ts'
import type { QueueRun } from './shared-requests.ts'

/** Options of a run by workers on several machines. */
export type QueueRunOptions = Pick<RunLimits, 'deadlineMs' | 'signal'> & {
  /** Redis server that all machines can reach. */
  queue: QueueAddress
  apiKey?: string | undefined
  /** Allow the key to be sent unencrypted, over HTTP, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  fresh?: boolean
  onNotice?: (notice: string) => void
  onStart?: (jobs: readonly { job: Job; stats: RunStats }[]) => void
}

/**
 * Plans jobs, has workers process their tasks, and publishes the exports. Throws USAGE for jobs that a queue
 * run does not support.
 */
export async function runOverQueue(jobs: readonly Job[], options: QueueRunOptions): Promise<RunResult> {
  requireDistinctOutputs(jobs)
  for (const job of jobs) requireService(job, { ...options, apiKey: options.apiKey })
  const checkedJobs = jobs.map((job) => {
    return { ...checkQueueJob(job), stats: newRunStats(job.wallets.length, Date.now()) }
  })
  const { fresh = false, onNotice = () => {} } = options
  const queue = await openQueue(options.queue)
  const runLimits = startRunLimits(options, 'the run was aborted')
  const id = newRunId()
  options.onStart?.(checkedJobs)
  try {
    const { signal, checkWait } = runLimits
    const { apiKey, allowPlainHttp } = options
    const requests = { queue, apiKey, allowPlainHttp, checkWait }
    const runJob = async (checkedJob: (typeof checkedJobs)[number]) => {
      const { stats } = checkedJob
      const run = { ...checkedJob, fresh, signal, onNotice, runId: id }
      const result = await runExport(run, (store) => runAttempt({ ...run, store }, requests))
      await saveRunReport({ id, ...result, stats }, onNotice, signal)
      return { ...result, stats }
    }
    const results = await Promise.all(checkedJobs.map(runJob))
    return { id, jobs: results, code: worstCode(results) }
  } finally {
    runLimits.end()
    await queue.close()
  }
}

/** A job whose output this process has locked. */
type LockedJob = QueueJob & JobRun & { store: Store }

async function runAttempt(
  locked: LockedJob,
  requests: Pick<QueueRun, 'queue' | 'apiKey' | 'allowPlainHttp' | 'checkWait'>,
): Promise<JobResult['state']> {
  const { job, signal } = locked
  const { queue, apiKey } = requests
  const objects = await openRunObjects(job, signal)
  try {
    const { plan, previous } = await findAttempt(locked, objects)
    noticeRemovedWallets(locked, previous)
    const runState = runStateOf(objects, plan.attempt)
    const run = runEntryOf(plan, apiKey)
    await removeIncompleteReads(runState, plan)
    await queue.clear(plan.id)
    await coordinate({ ...locked, ...requests, plan, runState, run, previous }).finally(() =>
      unregisterRun(queue, plan.id),
    )
    // The checkpoint of an earlier run on one machine does not belong to this export.
    await removeCheckpoint(privateFolder(job))
    await removeFeeLog(privateFolder(job))
    await endAttempt(runState)
    return 'complete'
  } catch (error) {
    throw toQueueError(error)
  } finally {
    await objects.close()
  }
}

/** Continues the current attempt or starts a new one. Throws OUTPUT_CHANGED if the output belongs to another job. */
async function findAttempt(
  locked: LockedJob,
  objects: ObjectFolder,
): Promise<{ plan: Plan; previous: PreviousExport }> {
  const { job, fresh, store, onNotice } = locked
  const before = fresh ? undefined : await findPlan(job, objects)
  const isFresh = fresh || before?.isFresh === true
  const existing = isFresh ? undefined : await findExport(job, store)
  const previous = noPreviousExport(job, existing)
  const destination = await resolveDestination(job)
  const nextPlan = planAttempt({
    ...locked,
    destination,
    existing: existing?.manifest,
    isFresh,
    now: Date.now(),
  })
  const isSame = (plan: Plan) => plan.sha256 === nextPlan.sha256 && plan.output === nextPlan.output
  if (before !== undefined && isSame(before)) {
    onNotice(`${job.name}: resuming an unfinished run`)
    return { plan: before, previous }
  }
  if (before !== undefined)
    onNotice(`${job.name}: the output has changed since an unfinished run started; the run starts over`)
  await beginAttempt(objects, nextPlan)
  return { plan: nextPlan, previous }
}

/** The plan of an unfinished run of this job. Throws OUTPUT_CHANGED if that run is of another job or version. */
async function findPlan(job: Job, objects: ObjectFolder): Promise<Plan | undefined> {
  const attempt = await readCurrentAttempt(objects)
  const plan = attempt === undefined ? undefined : await readPlan(runStateOf(objects, attempt))
  if (plan === undefined) return undefined
  const differing = differingSettings(plan.job, job)
  if (plan.version === GENERATOR && differing.length === 0) return plan
  const difference =
    plan.version === GENERATOR
      ? `another job, which differs in ${differing.join(', ')}`
      : `another version: it is ${plan.version}, this is ${GENERATOR}`
  throw new ExportError('OUTPUT_CHANGED', `${outputName(job)} holds an unfinished queue run of ${difference}`)
}

/** The queue entry by which workers find a run. */
function runEntryOf({ id, job, attempt, version, output, store }: Plan, apiKey: string | undefined): OpenRun {
  const quota = quotaKey({ baseUrl: job.service.baseUrl ?? '', apiKey })
  const run = { id, name: job.name, attempt, version, output, store, quota }
  return { ...run, signature: signRun(run, apiKey) }
}

/**
 * Unregisters a run, so that workers stop serving it. If the server is unavailable, they stop once there is
 * nothing to do.
 */
async function unregisterRun(queue: TaskQueue, id: string): Promise<void> {
  const unregistered = queue.server.unregisterRun(id).then(() => queue.clear(id))
  const timeout = new Promise((resolve) => setTimeout(resolve, UNREGISTER_TIMEOUT_MS).unref())
  await Promise.race([unregistered.catch(() => undefined), timeout])
}

const UNREGISTER_TIMEOUT_MS = 5_000
