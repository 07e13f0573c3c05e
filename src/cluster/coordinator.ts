import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import { countUnitsOfDay } from '../core/model/run-stats.ts'
import { GENERATOR } from '../core/model/version.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'
import { finishReads, proveRange, recordReads } from './finish-reads.ts'
import { type Plan, walletsOf } from './plan.ts'
import { publishRun } from './publish-run.ts'
import { readQuotaState } from './rate-limit/redis-rate-limiter.ts'
import {
  loadProof,
  loadSelection,
  READ_RESULTS,
  type ReadSelection,
  removeReads,
  saveProof,
  saveSelection,
  selectReads,
} from './read-results.ts'
import { createReconciler } from './reconcile-partitions.ts'
import { removeDamaged } from './remove-damaged.ts'
import { saveRunFees } from './run-fees.ts'
import type { TaskKind } from './server.ts'
import type { QueueRun } from './shared-requests.ts'
import {
  mergeStarts,
  mergeWrites,
  planReads,
  planWrites,
  planWritesAt,
  type Task,
  type WriteTask,
} from './tasks.ts'
import { listWrites, rangeKey, type WriteResult } from './write-results.ts'

/** Interval between polls of the queue, in milliseconds. */
const POLL_MS = 300
/** Maximum number of rounds in which damaged pages or partitions are recreated. */
const MAX_REPAIRS = 3
/** Polls without a worker before the user is notified. */
const NO_WORKER_POLLS = 10
/**
 * Polls of an empty queue before missing tasks are planned again: a task that is just finishing may be adding
 * others.
 */
const EMPTY_POLLS = 2

/**
 * Coordinates a run: workers read all pages, then write all partitions, which are published once no
 * transaction is in two of them. The remaining work is derived from the run state alone: if the queue is
 * empty before everything is done, it has lost tasks, and they are planned again.
 */
export async function coordinate(context: QueueRun): Promise<void> {
  const { stats, plan, runState, queue } = context
  // What an earlier coordinator's workers have used is not counted for the current day.
  Object.assign(stats, await queue.server.readProgress(plan.id))
  const reconciler = createReconciler(context)
  for (let repairs = 0; ; ) {
    stats.phase = 'reading'
    const selection = (await loadSelection(runState, plan)) ?? (await runReadTasks(context))
    recordReads(stats, plan, selection)
    let writes: WriteResult[] | undefined = []
    try {
      await saveRunFees(context, selection)
      stats.phase = 'writing'
      stats.share = 1
      writes = await runWriteTasks(context, selection, reconciler.mergedRanges())
      if (writes === undefined) throw damagedPagesError(plan)
      if (await reconciler.isConsistent(selection, writes))
        return await publishRun(context, selection, writes)
    } catch (error) {
      const wasRemoved = writes === undefined || (await removeDamaged(context, { selection, writes }, error))
      repairs += 1
      if (!wasRemoved || repairs > MAX_REPAIRS) throw error
      context.onNotice(`${plan.job.name}: stored pages or partitions were damaged; they are created again`)
    }
    await queue.clear(plan.id)
  }
}

const damagedPagesError = ({ job }: Plan) => {
  const fix = 'Check the disk or object store of the output, then run the same command again: it resumes.'
  return new ExportError('OUTPUT_FAILED', `${job.name}: stored pages are damaged`, { fix })
}

/** Has workers read everything that is missing, then fixes the selection of reads for the partitions. */
async function runReadTasks(context: QueueRun): Promise<ReadSelection> {
  const { plan, runState, queue } = context
  const list = () => READ_RESULTS.list(runState, plan)
  const existing = await list()
  const isProven =
    (await loadProof(runState)) ??
    (await saveProof(runState, existing.length === 0 && (await proveRange(context))))
  const missing = async () => {
    const covered = (await list()).map((read) => read.covered)
    return planReads(walletsOf(plan), covered)
  }
  await finishTasks(context, { kind: 'read', missing })
  const reads = selectReads(await list())
  const end = await finishReads(context, { reads, isProven })
  if (end !== undefined) return saveSelection(runState, plan, { reads, end, isProven })
  await saveProof(runState, true)
  await removeReads(runState, await list())
  await queue.clear(plan.id)
  return runReadTasks(context)
}

/**
 * Has workers write all partitions. Returns one result per partition, in block order, or undefined if a
 * worker found damaged pages and removed them: they must be read again first.
 */
async function runWriteTasks(
  context: QueueRun,
  selection: ReadSelection,
  mergedRanges: readonly BlockRange[],
): Promise<WriteResult[] | undefined> {
  const { plan, runState } = context
  const tasks = mergeWrites(planPartitions(plan, selection), mergedRanges)
  const missing = async () => {
    const written = await listWrites(context, selection)
    return tasks.filter((task) => !written.has(rangeKey(task)))
  }
  const isCurrent = async () => (await loadSelection(runState, plan))?.sha256 === selection.sha256
  if (!(await finishTasks(context, { kind: 'write', missing, isCurrent }))) return undefined
  const written = await listWrites(context, selection)
  return tasks.flatMap((task) => written.get(rangeKey(task)) ?? [])
}

/** Plans all partitions. Those by time start at blocks that are known once everything is read. */
function planPartitions(
  { range: { from }, partitionBy }: Plan,
  { reads, end: to }: ReadSelection,
): WriteTask[] {
  const [, blocks] = /^blocks:(\d+)$/.exec(partitionBy) ?? []
  if (blocks !== undefined) return planWrites({ from, to }, Number(blocks))
  return planWritesAt({ from, to }, mergeStarts(reads.map(({ starts }) => starts)))
}

type Phase = {
  kind: TaskKind
  missing: () => Promise<Task[]>
  /** Whether the tasks can still be done. @default always */
  isCurrent?: () => Promise<boolean>
}

/** Resolves with true once all tasks are done, with false if they can no longer be done. */
async function finishTasks(context: QueueRun, { kind, missing, isCurrent }: Phase): Promise<boolean> {
  const { queue, run, plan } = context
  let [emptyPolls, planCount, pollsWithoutWorker] = [EMPTY_POLLS, 0, 0]
  for (;;) {
    context.signal.throwIfAborted()
    await queue.server.registerRun(run)
    const { remaining, failed } = await queue.counts(plan.id, kind)
    const liveWorkers = await queue.server.liveWorkers()
    pollsWithoutWorker = [...liveWorkers.values()].includes(GENERATOR) ? 0 : pollsWithoutWorker + 1
    if (pollsWithoutWorker === NO_WORKER_POLLS)
      context.onNotice(`${plan.job.name}: ${describeNoWorker(liveWorkers)}`)
    await updateProgress(context)
    await noticeQuotaPause(context)
    emptyPolls = remaining === 0 ? emptyPolls + 1 : 0
    if (emptyPolls >= EMPTY_POLLS) {
      const tasks = await missing()
      if (tasks.length === 0) return true
      if (isCurrent !== undefined && !(await isCurrent())) return false
      if (failed > 0) await requireNoFailed(context, kind)
      if (planCount > 0) noticeReplanned(context, tasks)
      await queue.add(plan.id, tasks)
      planCount += 1
      emptyPolls = 0
    }
    await wait(POLL_MS, undefined, { signal: context.signal }).catch(() => context.signal.throwIfAborted())
  }
}

function describeNoWorker(liveWorkers: ReadonlyMap<string, string>): string {
  const others = [...new Set(liveWorkers.values())].join(', ')
  const start = 'start one with `walletlake worker` and the same --queue'
  if (liveWorkers.size === 0) return `no worker is connected; ${start}`
  const count = liveWorkers.size === 1 ? 'the only worker runs' : `all ${liveWorkers.size} workers run`
  return `no worker of ${GENERATOR} is connected: ${count} ${others}; ${start} and this version`
}

function noticeReplanned({ plan, onNotice }: QueueRun, tasks: readonly Task[]): void {
  const tasksText = tasks.length === 1 ? '1 task is' : `${tasks.length} tasks are`
  onNotice(
    `${plan.job.name}: the queue lost tasks; ${tasksText} planned again, stored pages are not requested again`,
  )
}

/** Throws TASKS_FAILED if tasks failed permanently. Stored pages remain. Entries that cannot be read are planned again. */
async function requireNoFailed({ queue, plan }: QueueRun, kind: TaskKind): Promise<void> {
  const failed = await queue.failed(plan.id, kind)
  if (failed.length === 0) return
  const named = failed.slice(0, MAX_NAMED_TASKS).map(({ task, reason }) => `${task} (${reason})`)
  const remaining = failed.length > MAX_NAMED_TASKS ? [`and ${failed.length - MAX_NAMED_TASKS} more`] : []
  const count = failed.length === 1 ? '1 task' : `${failed.length} tasks`
  throw new ExportError('TASKS_FAILED', `${count} failed permanently: ${[...named, ...remaining].join('; ')}`)
}

const MAX_NAMED_TASKS = 5

/** Updates the statistics with the counters of the workers. */
async function updateProgress({ queue, plan, stats }: QueueRun): Promise<void> {
  const before = stats.computeUnits
  Object.assign(stats, await queue.server.readProgress(plan.id))
  countUnitsOfDay(stats, Math.max(0, stats.computeUnits - before), Date.now())
}

/**
 * Notices a pause that the service requested from all workers. A pause past the deadline aborts the run. Shorter
 * pauses may be the rate limiter's own backoff.
 */
async function noticeQuotaPause({ queue, run, plan, checkWait, onNotice }: QueueRun): Promise<void> {
  const { pausedMs } = await readQuotaState(queue.server.rateLimitState(run.quota))
  const notice = pausedMs > RETRY_POLICIES.request.maxDelayMs ? checkWait(pausedMs) : undefined
  if (notice !== undefined) onNotice(`${plan.job.name}: ${notice}`)
}
