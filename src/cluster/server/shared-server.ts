import type { BackendFactory, QueueOptions } from 'bullmq'
import type { BucketPlace } from '../../core/model/model.ts'
import type { Figures } from '../../core/model/run-stats.ts'
import type { Book } from '../rate-limit/shared-rate-limit-state.ts'
import type { Unit } from '../task.ts'

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
  store?: BucketPlace | undefined
  quota: string
  /** Shows that whoever entered the run has its API key; see `sealRun`. */
  seal: string
}

/** How the Redis server is reached. A password here replaces that of the URL. */
export type QueueAddress = { url: string; password?: string | undefined }

/** An entry among the runs that is not used, and why not. */
export type BadRun = { id: string; why: string }

/** Workers that are alive, each with its version. */
export type AliveWorkers = ReadonlyMap<string, string>

export type Kind = Unit['kind']

export const COUNTED = ['requests', 'refusals', 'retries', 'bytes', 'pages', 'items'] as const

/** What all workers of a run have counted; for people: nothing depends on it. */
export type Tally = Pick<Figures, (typeof COUNTED)[number]>

/** Who has not said for so long that it is alive is not: its units are done by others. */
export const ALIVE_SECONDS = 6
/** Counts that nobody touches for so long are forgotten. */
export const FORGET_SECONDS = 604_800

/** The server that machines share, of whatever kind. It waits where it is away for a while, but for `ready`. */
export type SharedServer = {
  /** Lets workers know of a run; to be said again and again. */
  announce(run: OpenRun): Promise<void>
  /** Has workers leave a run alone, and forgets what they counted. */
  withdraw(id: string): Promise<void>
  runs(): Promise<{ runs: OpenRun[]; bad: BadRun[] }>
  /** Says that a worker of this version is alive; to be said again and again. */
  sayAlive(worker: string): Promise<void>
  sayGone(worker: string): Promise<void>
  workers(): Promise<AliveWorkers>
  /** Adds to what workers of a run have counted. */
  count(id: string, more: Partial<Tally>): Promise<void>
  counted(id: string): Promise<Partial<Tally>>
  /** The book of a quota. */
  book(quota: string): Book
  /** Where BullMQ keeps its queues. */
  backend: BackendFactory
  /** The queue of a run's units: one that no other run ever meets. */
  placeOf(id: string, kind: Kind): { name: string; options: QueueOptions }
  close(): Promise<void>
}

/** A server that is being connected to. */
export type Connecting = {
  server: SharedServer
  /** Settles once the server can be used, or never can be. */
  ready: Promise<unknown>
  /** Why the newest try to reach it failed. */
  trouble(): string | undefined
}
