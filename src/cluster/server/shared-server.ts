import type { BackendFactory, QueueOptions } from 'bullmq'
import type { BucketLocation } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import type { StateStore } from '../rate-limit/redis-store.ts'
import type { Task } from '../task.ts'

/** A run in progress: the location of its state and the quota that its requests count against. */
export type OpenRun = {
  id: string
  name: string
  /** The attempt that workers serve. */
  attempt: string
  /** The version of walletlake that started the run; only workers of the same version serve it. */
  version: string
  /** The real path of a folder, or `s3://bucket/prefix`. */
  output: string
  /** Object store of the output, if it is one. The endpoint is set unless it is AWS. */
  store?: BucketLocation | undefined
  quota: string
  /** Signature that proves knowledge of the API key; see `signRun`. */
  signature: string
}

/** Address of the Redis server. `password` overrides the one in the URL. */
export type QueueAddress = { url: string; password?: string | undefined }

/** A run entry that is ignored, with the reason. */
export type InvalidRun = { id: string; reason: string }

/** Live workers and their versions. */
export type LiveWorkers = ReadonlyMap<string, string>

export type TaskKind = Task['kind']

export const SHARED_COUNTERS = [
  'requests',
  'computeUnits',
  'rateLimited',
  'retries',
  'bytes',
  'pages',
  'items',
] as const

/** Counters of all workers of a run. They are informational only. */
export type Progress = Pick<RunStats, (typeof SHARED_COUNTERS)[number]>

/** A worker without a heartbeat for this long (seconds) counts as dead; its tasks are reassigned. */
export const WORKER_TTL_SECONDS = 6
/** Counters expire after this time (seconds) without an update. */
export const PROGRESS_TTL_SECONDS = 604_800

/** The server shared by all machines. Operations wait while it is unavailable. */
export type SharedServer = {
  /** Registers a run for the workers. Repeated periodically. */
  registerRun(run: OpenRun): Promise<void>
  /** Unregisters a run, so that workers stop serving it, and deletes its counters. */
  unregisterRun(id: string): Promise<void>
  runs(): Promise<{ runs: OpenRun[]; invalid: InvalidRun[] }>
  /** Reports a worker of this version as alive. Repeated periodically. */
  heartbeat(worker: string): Promise<void>
  removeWorker(worker: string): Promise<void>
  liveWorkers(): Promise<LiveWorkers>
  /** Adds to the counters of a run. */
  addProgress(id: string, more: Partial<Progress>): Promise<void>
  readProgress(id: string): Promise<Partial<Progress>>
  /** The rate-limit state of a quota. */
  rateLimitState(quota: string): StateStore
  /** Backend for BullMQ. */
  backend: BackendFactory
  /** The queue of a run's tasks, separate from those of other runs. */
  queueLocation(id: string, kind: TaskKind): { name: string; options: QueueOptions }
  close(): Promise<void>
}

/** A server while the connection is being established. */
export type PendingConnection = {
  server: SharedServer
  /** Settles once the server is usable, or once it is certain that it is not. */
  ready: Promise<unknown>
  /** Error of the latest connection attempt. */
  lastError(): string | undefined
}
