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
import { openServer } from './server/open-server.ts'
import type { Kind, QueueAddress, SharedServer } from './server/shared-server.ts'
import { describeUnit, nameUnit, parseUnit, type Unit } from './task.ts'

/** Units of a run by what has become of them; those that are done leave no trace but their objects. */
export type UnitCounts = { left: number; failed: number }

/** The queue of units, by BullMQ: a means, never the record of what is done. */
export type UnitQueue = {
  server: SharedServer
  add(id: string, units: readonly Unit[]): Promise<void>
  counts(id: string, kind: Kind): Promise<UnitCounts>
  /** Has others do what workers have under way that are not alive; resolves with how many units these have. */
  reclaim(reclaiming: Reclaiming): Promise<number>
  /** Units that were given up, in words, with why. */
  failed(id: string, kind: Kind): Promise<{ unit: string; why: string }[]>
  /** Forgets all units of a run. */
  clear(id: string): Promise<void>
  work(work: Work): UnitWorker
  close(): Promise<void>
}

type Reclaiming = { id: string; kind: Kind; isAlive: (worker: string) => boolean }

type Work = {
  id: string
  /** The worker, as `isAlive` is asked of it. */
  worker: string
  kind: Kind
  concurrency: number
  /** Does what an entry of the queue says, which may be anything; what it throws is tried again. */
  act: (data: unknown) => Promise<void>
  /** True where another try would throw the same. */
  isFinal: (thrown: unknown) => boolean
  /** True once units that fail are left to other workers. */
  isHandedBack: () => boolean
}

export type UnitWorker = { setConcurrency(most: number): void; close(): Promise<void> }

/** A unit is tried so often; a lock that is not renewed in time makes it stalled, and another worker does it. */
const UNIT_OPTIONS: JobsOptions = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: true,
}
const LOCKING = { lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 5 }
/** Units that are added at once: one big request would hold everybody up. */
const BULK = 1_000

/** Opens the queue at a server. Throws USAGE for another kind of address, QUEUE_UNAVAILABLE where nothing answers. */
export async function openQueue(address: QueueAddress): Promise<UnitQueue> {
  const server = await openServer(address)
  const { Queue } = withBackend(server.backend)
  const queues = new Map<string, Queue>()
  const queueOf: QueueOf = (id, kind) => {
    const known = queues.get(`${id}/${kind}`)
    if (known !== undefined) return known
    const { name, options } = server.placeOf(id, kind)
    const queue = new Queue(name, options)
    queue.on('error', () => undefined)
    queues.set(`${id}/${kind}`, queue)
    return queue
  }
  return {
    server,
    add: (id, units) => addUnits(queueOf, id, units),
    counts: async (id, kind) => {
      const { failed = 0, ...open } = await queueOf(id, kind).getJobCounts(...OPEN, 'failed')
      return { failed, left: Object.values(open).reduce((sum, count) => sum + count, 0) }
    },
    reclaim: (reclaiming) =>
      orClear(queueOf(reclaiming.id, reclaiming.kind), () => reclaim(queueOf, reclaiming), 0),
    failed: (id, kind) =>
      orClear(
        queueOf(id, kind),
        async () => (await queueOf(id, kind).getFailed(0, 99)).map(describeFailed),
        [],
      ),
    clear: async (id) => {
      for (const kind of KINDS) await queueOf(id, kind).obliterate({ force: true })
    },
    work: (work) => startWorker(work, server),
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      await server.close()
    },
  }
}

/** Entries that cannot even be read cost the queue all of its kind: what the record lacks is planned again. */
async function orClear<T>(queue: Queue, read: () => Promise<T>, none: T): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof TypeError)) throw thrown
    await queue.obliterate({ force: true })
    return none
  }
}

function describeFailed({ data, failedReason }: { data: unknown; failedReason?: unknown }) {
  const unit = parseUnit(data, EVERYTHING)
  const why = String(failedReason ?? '').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
  return {
    unit: unit === undefined ? 'an entry that is no unit' : describeUnit(unit),
    why: why.slice(0, 500),
  }
}

const EVERYTHING = { wallets: Number.MAX_SAFE_INTEGER, range: { from: 0, to: NO_END } }

type Queue = InstanceType<BackendClasses<IQueueBackend, ConnectionOptions>['Queue']>
type QueueOf = (id: string, kind: Kind) => Queue

const KINDS = ['read', 'write'] as const
const OPEN = ['waiting', 'active', 'delayed', 'prioritized'] as const

async function addUnits(queueOf: QueueOf, id: string, units: readonly Unit[]): Promise<void> {
  for (let at = 0; at < units.length; at += BULK) {
    const jobs = units.slice(at, at + BULK).map((unit) => {
      return { name: unit.kind, data: unit, opts: { ...UNIT_OPTIONS, jobId: nameUnit(unit) } }
    })
    for (const kind of KINDS) {
      const ours = jobs.filter(({ name }) => name === kind)
      if (ours.length > 0) await queueOf(id, kind).addBulk(ours)
    }
  }
}

async function reclaim(queueOf: QueueOf, { id, kind, isAlive }: Reclaiming): Promise<number> {
  const active = await queueOf(id, kind).getActive()
  const lost = active.filter(({ processedBy }) => processedBy !== undefined && !isAlive(processedBy))
  // A unit that is there already is not added again: the name says which try was lost.
  const again = lost.map(({ id: name = '', data, attemptsStarted }) => {
    const opts = { ...UNIT_OPTIONS, jobId: `${name}-again${attemptsStarted}` }
    return { name: kind, data: data as unknown, opts }
  })
  if (again.length > 0) await queueOf(id, kind).addBulk(again)
  return lost.length
}

function startWorker(work: Work, server: SharedServer): UnitWorker {
  const { id, kind, concurrency } = work
  const act = async (
    job: { data: unknown; moveToWait(token?: string): Promise<unknown> },
    token?: string,
  ) => {
    try {
      await work.act(job.data)
    } catch (thrown) {
      if (work.isHandedBack()) {
        await job.moveToWait(token)
        throw new WaitingError()
      }
      const what = wordsOf(thrown)
      throw work.isFinal(thrown) ? new UnrecoverableError(what) : new Error(what)
    }
  }
  const { Worker } = withBackend(server.backend)
  const { name, options } = server.placeOf(id, kind)
  const worker = new Worker(name, act, { ...options, ...LOCKING, concurrency, name: work.worker })
  worker.on('error', () => undefined)
  return {
    setConcurrency: (most) => {
      worker.concurrency = most
    },
    close: () => worker.close(),
  }
}

const wordsOf = (thrown: unknown) =>
  thrown instanceof ExportError ? `${thrown.code}: ${thrown.message}` : String(thrown)
