import { type JobsOptions, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { ExportError } from '../core/errors.ts'
import type { BucketPlace } from '../core/model.ts'
import { openRedis } from './open-redis.ts'
import { nameUnit, type Unit } from './unit.ts'

/** A run that is under way: where its record lies, and whom its requests count for. */
export type OpenRun = {
  id: string
  name: string
  /** As users name it; a folder in full. */
  output: string
  /** The object store that the record lies in, if it lies in one. */
  store?: BucketPlace | undefined
  quota: string
}

/** Units of a run by what has become of them; those that are done leave no trace but their objects. */
export type UnitCounts = { left: number; failed: number }

export type Kind = Unit['kind']

/** The queue of units, by BullMQ: a means, never the record of what is done. */
export type UnitQueue = {
  redis: Redis
  /** Lets workers know of a run; resolves with whether they knew it already. */
  announce(run: OpenRun): Promise<boolean>
  /** Has workers leave a run alone. */
  withdraw(id: string): Promise<void>
  runs(): Promise<OpenRun[]>
  add(id: string, units: readonly Unit[]): Promise<void>
  counts(id: string, kind: Kind): Promise<UnitCounts>
  /** Has others do what workers have under way that are not alive; resolves with how many units these have. */
  reclaim(reclaiming: Reclaiming): Promise<number>
  /** Units that were given up, with why. */
  failed(id: string, kind: Kind): Promise<{ unit: Unit; why: string }[]>
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
  /** Does a unit. What it throws is tried again, but for `final`; `handBack` leaves it to others. */
  act: (unit: Unit) => Promise<void>
  isFinal: (thrown: unknown) => boolean
  isHandedBack: () => boolean
}

export type UnitWorker = { setConcurrency(most: number): void; close(isForced?: boolean): Promise<void> }

/** A unit is tried so often; a lock that is not renewed in time makes it stalled, and another worker does it. */
const UNIT_OPTIONS: JobsOptions = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: true,
}
const LOCKING = { lockDuration: 30_000, stalledInterval: 10_000, maxStalledCount: 5 }
const RUNS = 'walletlake:runs'
/** Units that are added at once: one big request would hold everybody up. */
const BULK = 1_000

/** Opens the queue at a Redis server. Throws USAGE for another kind of address, QUEUE_UNAVAILABLE where nothing answers. */
export async function openQueue(url: string): Promise<UnitQueue> {
  const redis = await openRedis(url)
  const queues = new Map<string, Queue>()
  const queueOf: QueueOf = (id, kind) => {
    const known = queues.get(`${id}/${kind}`)
    if (known !== undefined) return known
    const queue = new Queue(kind, { prefix: prefixOf(id), connection: redis })
    queue.on('error', () => undefined)
    queues.set(`${id}/${kind}`, queue)
    return queue
  }
  return {
    redis,
    announce: async (run) => (await redis.hset(RUNS, run.id, JSON.stringify(run))) === 0,
    withdraw: async (id) => {
      await redis.hdel(RUNS, id)
    },
    runs: async () => Object.values(await redis.hgetall(RUNS)).map((text) => JSON.parse(text) as OpenRun),
    add: (id, units) => addUnits(queueOf, id, units),
    counts: async (id, kind) => {
      const { failed = 0, ...open } = await queueOf(id, kind).getJobCounts(...OPEN, 'failed')
      return { failed, left: Object.values(open).reduce((sum, count) => sum + count, 0) }
    },
    reclaim: (reclaiming) => reclaim(queueOf, reclaiming),
    failed: async (id, kind) =>
      (await queueOf(id, kind).getFailed(0, 99)).map(({ data, failedReason = '' }) => {
        return { unit: data as Unit, why: failedReason }
      }),
    clear: async (id) => {
      for (const kind of KINDS) await queueOf(id, kind).obliterate({ force: true })
    },
    work: (work) => startWorker(work, redis),
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      redis.disconnect()
    },
  }
}

type QueueOf = (id: string, kind: Kind) => Queue

const KINDS = ['read', 'write'] as const
const OPEN = ['waiting', 'active', 'delayed', 'prioritized'] as const
/** One prefix a run: what a queue remembers of one run never meets another. */
const prefixOf = (id: string) => `walletlake-${id}`

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
    return { name: kind, data: data as Unit, opts }
  })
  if (again.length > 0) await queueOf(id, kind).addBulk(again)
  return lost.length
}

function startWorker(work: Work, redis: Redis): UnitWorker {
  const { id, kind, concurrency } = work
  const act = async (
    job: { data: unknown; moveToWait(token?: string): Promise<unknown> },
    token?: string,
  ) => {
    try {
      await work.act(job.data as Unit)
    } catch (thrown) {
      if (work.isHandedBack()) {
        await job.moveToWait(token)
        throw new WaitingError()
      }
      const what = wordsOf(thrown)
      throw work.isFinal(thrown) ? new UnrecoverableError(what) : new Error(what)
    }
  }
  const worker = new Worker(kind, act, {
    ...LOCKING,
    prefix: prefixOf(id),
    concurrency,
    name: work.worker,
    connection: redis,
  })
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
