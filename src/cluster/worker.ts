import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { UNBOUNDED } from '../core/model/listings.ts'
import { newRunStats } from '../core/model/run-stats.ts'
import { raceAbort } from '../core/platform/abort-signal.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { createRefusals } from '../export/fetch/wallet-refusals.ts'
import { createWaitAnnouncer } from '../http/run-limits.ts'
import { type AllowedRoots, checkLocation } from './destination.ts'
import { type Plan, walletsOf } from './plan.ts'
import { openQueue, type TaskQueue, type TaskWorker } from './queue.ts'
import { quotaKey } from './rate-limit/redis-rate-limiter.ts'
import { runReadTask } from './read-task.ts'
import { openRunObjects, type RunState, readCurrentAttempt, readPlan, runStateOf } from './run-state.ts'
import {
  type OpenRun,
  type ProgressReport,
  type QueueAddress,
  signRun,
  type TaskKind,
  toQueueError,
} from './server.ts'
import { openSharedRequestContext } from './shared-requests.ts'
import { parseTask, type Task } from './tasks.ts'
import { runWriteTask } from './write-task.ts'

/** Options of a worker. */
export type WorkOptions = {
  queue: QueueAddress
  apiKey?: string | undefined
  /** Outputs that the worker is limited to. @default all runs with its API key */
  roots?: AllowedRoots
  /** Allow the key to be sent unencrypted, over HTTP, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Read tasks processed concurrently, over all runs. */
  concurrency: number
  /** Time to finish active tasks after the stop signal, in milliseconds; then they are handed back. */
  shutdownMs: number
  /** Stops the worker. */
  signal: AbortSignal
  onNotice: (notice: string) => void
}

/** Interval between polls of the open runs, in milliseconds. */
const POLL_MS = 500
/** Partitions written concurrently: each takes a core and memory. */
const CONCURRENT_PARTITIONS = 2

type ServedRun = ProgressReport & { workers: TaskWorker[]; close(): Promise<void> }
type Worker = {
  options: WorkOptions
  queue: TaskQueue
  id: string
  servedRuns: Map<string, ServedRun>
  /** Rejections that were already reported. */
  rejectedRuns: Set<string>
  stop: AbortSignal
}

/** Processes tasks of all open runs until it is stopped. Each run gets the same share of the concurrency. */
export async function runWorker(options: WorkOptions): Promise<void> {
  const queue = await openQueue(options.queue)
  const stop = new AbortController()
  // Every request adds a listener, so many listeners do not indicate a leak.
  setMaxListeners(0, stop.signal)
  const id = `${process.pid}-${randomBytes(4).toString('hex')}`
  const worker: Worker = {
    options,
    queue,
    id,
    servedRuns: new Map(),
    rejectedRuns: new Set(),
    stop: stop.signal,
  }
  try {
    while (!options.signal.aborted) {
      // An unavailable server must not delay the shutdown.
      await raceAbort(pollRuns(worker), options.signal).catch(noticeQueueError(worker))
      await wait(POLL_MS, undefined, { signal: options.signal }).catch(() => undefined)
    }
    const shutdownTimer = setTimeout(() => stop.abort(handedBackError()), options.shutdownMs)
    await Promise.all([...worker.servedRuns.values()].map((run) => run.close()))
    clearTimeout(shutdownTimer)
  } finally {
    await queue.server.removeWorker(id).catch(() => undefined)
    await queue.close()
  }
}

/** An invalid response of Redis does not end the worker; the next poll may succeed. */
const noticeQueueError =
  ({ options, rejectedRuns }: Worker) =>
  (error: unknown) => {
    const { message: problem, fix } = toExportError(toQueueError(error))
    const message = `${problem}: ${fix}`
    if (!options.signal.aborted && !rejectedRuns.has(message)) options.onNotice(message)
    rejectedRuns.add(message)
  }

const handedBackError = () => new ExportError('INTERRUPTED', 'the task was handed back')

/** Starts serving new runs, stops serving finished ones, and divides the concurrency among them. */
async function pollRuns(worker: Worker): Promise<void> {
  const { queue, servedRuns, options, id } = worker
  await queue.server.heartbeat(id)
  const listed = await queue.server.runs()
  for (const { id, reason } of listed.invalid) rejectRun(worker, { id, name: id }, reason)
  const runs = new Map(listed.runs.map((run) => [run.id, run]))
  for (const [run, servedRun] of servedRuns) {
    if (runs.has(run)) {
      await queue.server.addProgress(run, servedRun)
      continue
    }
    servedRuns.delete(run)
    void stopServing(queue, run, servedRun).catch(() => undefined)
  }
  for (const run of runs.values()) {
    if (servedRuns.has(run.id)) continue
    const servedRun = await serveRun(worker, run)
    if (servedRun !== undefined) servedRuns.set(run.id, servedRun)
  }
  const share = Math.max(1, Math.floor(options.concurrency / Math.max(1, servedRuns.size)))
  for (const { workers } of servedRuns.values()) workers[0]?.setConcurrency(share)
}

/**
 * Stops serving a finished run, and removes what this worker has still added to the queue, unless the run has
 * started again.
 */
async function stopServing({ server, clear }: TaskQueue, id: string, { close }: ServedRun): Promise<void> {
  await close()
  if ((await server.runs()).runs.some((run) => run.id === id)) return
  await server.unregisterRun(id)
  await clear(id)
}

/** Adds the remaining tasks of a task to the queue, unless the run is over. */
async function addRemaining(
  { server, add }: TaskQueue,
  id: string,
  remaining: readonly Task[],
): Promise<void> {
  if (remaining.length === 0) return
  const { runs } = await server.runs()
  if (runs.some((run) => run.id === id)) await add(id, remaining)
}

/** Starts serving a run; undefined if it is rejected. */
async function serveRun(worker: Worker, run: OpenRun): Promise<ServedRun | undefined> {
  const reason = await checkRunEntry(worker, run)
  if (reason !== undefined) return rejectRun(worker, run, reason)
  const runState = runStateOf(await openRunObjects(run), run.attempt)
  const servedRun = await serveWithState(worker, run, runState).catch((error: unknown) =>
    rejectRun(worker, run, toExportError(error).message),
  )
  if (servedRun === undefined) await runState.objects.close()
  return servedRun
}

/** The reason for rejecting a run by its entry alone; undefined if it is accepted. */
async function checkRunEntry({ options }: Worker, run: OpenRun): Promise<string | undefined> {
  if (signRun(run, options.apiKey) !== run.signature)
    return 'it was started with another key than WALLETLAKE_API_KEY of this worker, or its queue entry was modified'
  return checkLocation(run, options.roots)
}

/** The reason why a plan does not match the run's entry; undefined if it does. */
function checkPlan(plan: Plan, run: OpenRun, apiKey: string | undefined): string | undefined {
  const { id, output, store, version } = plan
  const isSame = JSON.stringify([id, output, store, version])
  if (isSame !== JSON.stringify([run.id, run.output, run.store, run.version]))
    return `the plan in ${run.output} does not match its queue entry`
  // Without the key, nobody can direct workers to a service to which they then send it.
  const { baseUrl = '' } = plan.job.service
  return quotaKey({ baseUrl, apiKey }) === run.quota
    ? undefined
    : 'it was started with another key than WALLETLAKE_API_KEY of this worker'
}

async function serveWithState(
  worker: Worker,
  run: OpenRun,
  runState: RunState,
): Promise<ServedRun | undefined> {
  const { options, queue, stop } = worker
  const plan =
    (await readCurrentAttempt(runState.objects)) === run.attempt ? await readPlan(runState) : undefined
  if (plan === undefined)
    return rejectRun(worker, run, `no plan in ${run.output}: all machines must see this location`)
  const reason = checkPlan(plan, run, options.apiKey)
  if (reason !== undefined) return rejectRun(worker, run, reason)
  const stats = newRunStats(plan.job.wallets.length, Date.now())
  const { apiKey, allowPlainHttp, concurrency, onNotice } = options
  const { requestContext, close } = openSharedRequestContext(queue.server, {
    apiKey,
    allowPlainHttp,
    onNotice,
    plan,
    run,
    stats,
    limit: limitConcurrency(concurrency),
    signal: stop,
    checkWait: createWaitAnnouncer(),
  })
  const wallets = walletsOf(plan)
  const listings = new Map(wallets.map(({ address }) => [address, UNBOUNDED]))
  const refusals = createRefusals({ job: plan.job, listings, requestContext, stats })
  const taskContext = { plan, runState, requestContext, stats, refusals }
  const progressReport: ProgressReport = { stats, reported: {} }
  const taskBounds = { wallets: wallets.length, range: plan.range }
  const processEntry = async (data: unknown) => {
    const task = parseTask(data, taskBounds)
    if (task === undefined) throw new ExportError('TASKS_FAILED', 'its queue entry is not a task of this run')
    if (task.kind === 'write') await runWriteTask(taskContext, task)
    else await addRemaining(queue, run.id, await runReadTask(taskContext, task))
    await queue.server.addProgress(run.id, progressReport)
  }
  const startWorker = (kind: TaskKind, concurrency: number) =>
    queue.startWorker({
      id: run.id,
      kind,
      concurrency,
      process: processEntry,
      isFinal,
      isHandedBack: () => stop.aborted,
    })
  const workers = [startWorker('read', concurrency), startWorker('write', CONCURRENT_PARTITIONS)]
  onNotice(`${run.name}: serving ${run.id}`)
  const closeAll = async () => {
    await Promise.all(workers.map((worker) => worker.close()))
    await close()
    await runState.objects.close()
  }
  return { ...progressReport, workers, close: closeAll }
}

/** Reports once why this worker does not serve a run. */
function rejectRun(
  { rejectedRuns, options }: Worker,
  { id, name }: Pick<OpenRun, 'id' | 'name'>,
  reason: string,
): undefined {
  if (!rejectedRuns.has(id + reason)) options.onNotice(`${name}: not served: ${reason}`)
  rejectedRuns.add(id + reason)
}

/** Whether an error is permanent: a retry would fail in the same way. */
const isFinal = (error: unknown) =>
  error instanceof ExportError && !error.failure.retry && error.code !== 'BUG'
