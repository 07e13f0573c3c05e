import {
  type BackendClasses,
  type ConnectionOptions,
  type IQueueBackend,
  type JobsOptions,
  UnrecoverableError,
  WaitingError,
  withBackend,
} from 'bullmq'
import { ExportError } from '../core/model/errors.ts'
import { NO_END } from '../core/model/model.ts'
import { RETRY_POLICIES } from '../core/platform/retry.ts'
import { openServer, type QueueAddress, type SharedServer, type TaskKind } from './server.ts'
import { describeTask, nameTask, parseTask, type Task } from './tasks.ts'

/** Numbers of open and failed tasks of a run. Finished tasks leave only their results in the run state. */
export type TaskCounts = { remaining: number; failed: number }

type WorkerOptions = {
  id: string
  kind: TaskKind
  concurrency: number
  /** Processes a queue entry, whose data is untrusted. A task whose processing throws is retried. */
  process: (data: unknown) => Promise<void>
  /** Whether a retry would fail with the same error. */
  isFinal: (error: unknown) => boolean
  /** Whether failing tasks are handed back to other workers. */
  isHandedBack: () => boolean
}

export type TaskWorker = ReturnType<typeof startWorker>

/**
 * Retry and lock settings. A task whose lock is not renewed in time counts as stalled: BullMQ gives it to another
 * worker.
 */
const TASK_OPTIONS: JobsOptions = {
  attempts: RETRY_POLICIES.task.retries + 1,
  backoff: { type: 'exponential', delay: RETRY_POLICIES.task.firstDelayMs },
  removeOnComplete: true,
}
const LOCK_OPTIONS = { lockDuration: 15_000, stalledInterval: 5_000, maxStalledCount: 10 }
/** Tasks added per request. A single large request would block the server for everyone. */
const BULK_SIZE = 1_000

/** The task queue, implemented with BullMQ. It distributes tasks and is never the record of what is done. */
export type TaskQueue = Awaited<ReturnType<typeof openQueue>>

/**
 * Opens the queue at a server. Throws USAGE for another kind of URL, QUEUE_UNAVAILABLE if the server does not
 * respond.
 */
export async function openQueue(address: QueueAddress) {
  const server = await openServer(address)
  const { Queue } = withBackend(server.backend)
  const queues = new Map<string, Queue>()
  const queueOf = (id: string, kind: TaskKind): Queue => {
    const existing = queues.get(`${id}/${kind}`)
    if (existing !== undefined) return existing
    const { name, options } = server.queueLocation(id, kind)
    const queue = new Queue(name, options)
    queue.on('error', () => undefined)
    queues.set(`${id}/${kind}`, queue)
    return queue
  }
  return {
    server,
    add: async (id: string, tasks: readonly Task[]) => {
      for (const kind of TASK_KINDS) {
        const jobs = tasks.filter((task) => task.kind === kind).map(toQueueEntry)
        for (let at = 0; at < jobs.length; at += BULK_SIZE)
          await queueOf(id, kind).addBulk(jobs.slice(at, at + BULK_SIZE))
      }
    },
    counts: async (id: string, kind: TaskKind): Promise<TaskCounts> => {
      // An active entry that cannot be parsed would stay active: its worker can neither process nor fail it.
      await readOrClear(queueOf(id, kind), () => queueOf(id, kind).getActive(), [])
      const { failed = 0, ...open } = await queueOf(id, kind).getJobCounts(...OPEN_STATES, 'failed')
      return { failed, remaining: Object.values(open).reduce((sum, count) => sum + count, 0) }
    },
    /** Descriptions of the tasks that failed permanently, with reasons. */
    failed: (id: string, kind: TaskKind) =>
      readOrClear(
        queueOf(id, kind),
        async () => (await queueOf(id, kind).getFailed(0, 99)).map(describeFailed),
        [],
      ),
    /** Deletes all tasks of a run. */
    clear: async (id: string) => {
      for (const kind of TASK_KINDS) await queueOf(id, kind).obliterate({ force: true })
    },
    startWorker: (work: WorkerOptions) => startWorker(work, server),
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      await server.close()
    },
  }
}

function toQueueEntry(task: Task) {
  return { name: task.kind, data: task, opts: { ...TASK_OPTIONS, jobId: nameTask(task) } }
}

/** If entries cannot be parsed, the whole queue of that kind is deleted; missing tasks are planned again. */
async function readOrClear<T>(queue: Queue, read: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
    await queue.obliterate({ force: true })
    return fallback
  }
}

function describeFailed({ data, failedReason }: { data: unknown; failedReason?: unknown }) {
  const task = parseTask(data, ANY_TASK)
  const reason = String(failedReason ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return {
    task: task === undefined ? 'an invalid queue entry' : describeTask(task),
    reason: reason.slice(0, 500),
  }
}

const ANY_TASK = { wallets: Number.MAX_SAFE_INTEGER, range: { from: 0, to: NO_END } }

type Queue = InstanceType<BackendClasses<IQueueBackend, ConnectionOptions>['Queue']>
const TASK_KINDS = ['read', 'write'] as const
const OPEN_STATES = ['waiting', 'active', 'delayed', 'prioritized'] as const

function startWorker(work: WorkerOptions, server: SharedServer) {
  const { id, kind, concurrency } = work
  const processJob = async (
    job: { data: unknown; moveToWait(token?: string): Promise<unknown> },
    token?: string,
  ) => {
    try {
      await work.process(job.data)
    } catch (error) {
      if (work.isHandedBack()) {
        await job.moveToWait(token)
        throw new WaitingError()
      }
      const message = describeError(error)
      throw work.isFinal(error) ? new UnrecoverableError(message) : new Error(message)
    }
  }
  const { Worker } = withBackend(server.backend)
  const { name, options } = server.queueLocation(id, kind)
  const worker = new Worker(name, processJob, { ...options, ...LOCK_OPTIONS, concurrency })
  worker.on('error', () => undefined)
  return {
    setConcurrency: (most: number) => {
      worker.concurrency = most
    },
    close: () => worker.close(),
  }
}

const describeError = (error: unknown) =>
  error instanceof ExportError ? `${error.code}: ${error.message}` : String(error)
