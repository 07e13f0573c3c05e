import type { BackendFactory, QueueOptions } from 'bullmq'
import type { BucketLocation } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import type { SharedRateLimitState } from '../rate-limit/shared-rate-limit-state.ts'
import type { Task } from '../task.ts'

/** A run that is under way: where its record lies, and whom its requests count for. */
export type OpenRun = {
  id: string
  name: string
  /** The attempt whose record is worked on. */
  attempt: string
  /** The version of walletlake that began it; only workers of the same one serve it. */
  version: string
  /** The real path of a folder, or `s3://bucket/prefix`. */
  output: string
  /** The object store that the record lies in, if it lies in one; its endpoint is named unless it is AWS. */
  store?: BucketLocation | undefined
  quota: string
  /** Shows that whoever entered the run has its API key; see `signRun`. */
  seal: string
}

/** How the Redis server is reached. A password here replaces that of the URL. */
export type QueueAddress = { url: string; password?: string | undefined }

/** An entry among the runs that is not used, and why not. */
export type InvalidRun = { id: string; reason: string }

/** Workers that are alive, each with its version. */
export type LiveWorkers = ReadonlyMap<string, string>

export type TaskKind = Task['kind']

export const SHARED_COUNTERS = ['requests', 'refusals', 'retries', 'bytes', 'pages', 'items'] as const

/** What all workers of a run have counted; for people: nothing depends on it. */
export type Progress = Pick<RunStats, (typeof SHARED_COUNTERS)[number]>

/** Who has not said for so long that it is alive is not: its units are done by others. */
export const WORKER_TTL_SECONDS = 6
/** Counts that nobody touches for so long are forgotten. */
export const PROGRESS_TTL_SECONDS = 604_800

/** The server that machines share, of whatever kind. It waits where it is away for a while, but for `ready`. */
export type SharedServer = {
  /** Lets workers know of a run; to be said again and again. */
  registerRun(run: OpenRun): Promise<void>
  /** Has workers leave a run alone, and forgets what they counted. */
  unregisterRun(id: string): Promise<void>
  runs(): Promise<{ runs: OpenRun[]; invalid: InvalidRun[] }>
  /** Says that a worker of this version is alive; to be said again and again. */
  heartbeat(worker: string): Promise<void>
  removeWorker(worker: string): Promise<void>
  liveWorkers(): Promise<LiveWorkers>
  /** Adds to what workers of a run have counted. */
  addProgress(id: string, more: Partial<Progress>): Promise<void>
  readProgress(id: string): Promise<Partial<Progress>>
  /** The book of a quota. */
  rateLimitState(quota: string): SharedRateLimitState
  /** Where BullMQ keeps its queues. */
  backend: BackendFactory
  /** The queue of a run's units: one that no other run ever meets. */
  queueLocation(id: string, kind: TaskKind): { name: string; options: QueueOptions }
  close(): Promise<void>
}

/** A server that is being connected to. */
export type PendingConnection = {
  server: SharedServer
  /** Settles once the server can be used, or never can be. */
  ready: Promise<unknown>
  /** Why the newest try to reach it failed. */
  lastError(): string | undefined
}
