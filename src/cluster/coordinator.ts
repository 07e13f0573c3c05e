import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import { GENERATOR } from '../core/model/version.ts'
import { type FinishingReads, finishReads, noteReading } from './finish-reads.ts'
import { joinStarts } from './partition-starts.ts'
import { type Plan, walletsOf } from './plan.ts'
import { joinWrites, planReads, planWrites, planWritesAt } from './plan-tasks.ts'
import { readTally } from './progress.ts'
import { type Publishing, publishRun } from './publish-run.ts'
import type { UnitQueue } from './queue.ts'
import { SHARED_PACE } from './rate-limit/shared-quota.ts'
import { readQuota } from './rate-limit/shared-rate-limit-state.ts'
import { findReading, fixReading, READS, type Reading, selectReads } from './read-results.ts'
import { createReconciler } from './reconcile-partitions.ts'
import { forgetDamaged } from './remove-damaged.ts'
import type { AliveWorkers, Kind } from './server/shared-server.ts'
import type { Unit, WriteUnit } from './task.ts'
import { listWrites, nameRange, WRITES, type Write } from './write-results.ts'

export type Coordinating = Publishing & Omit<FinishingReads, 'server'> & { queue: UnitQueue }

/** Between two looks at the queue. */
const LOOK_MS = 300
/** Rounds in which what is stored turns out to be damaged and is made again, at most. */
const MOST_REPAIRS = 3
/** Looks without any worker after which that is said. */
const NO_WORKER_LOOKS = 10
/** Looks at an empty queue after which what the record lacks is planned again: an ending unit may just be adding others. */
const EMPTY_LOOKS = 2

/**
 * Has workers read all pages, then make all partitions, and publishes these once no transaction stands in two of them. What is to be done comes from the record alone:
 * a queue that is empty before all is done has lost its units, which are planned again.
 */
export async function coordinate(going: Coordinating): Promise<void> {
  const { figures, plan, record, queue } = going
  const reconciler = createReconciler(going)
  for (let repairs = 0; ; ) {
    figures.phase = 'reading'
    const reading = (await findReading(record, plan)) ?? (await readAll(going))
    noteReading(figures, plan, reading)
    figures.phase = 'writing'
    figures.share = 1
    const writes = await writeAll(going, reading, reconciler.joined())
    try {
      if (writes === undefined) throw damaged(plan)
      if (await reconciler.isSettled(reading, writes)) return await publishRun(going, reading, writes)
    } catch (thrown) {
      const isForgotten = writes === undefined || (await forgetDamaged(going, { reading, writes }, thrown))
      repairs += 1
      if (!isForgotten || repairs > MOST_REPAIRS) throw thrown
      going.onNotice(`${plan.job.name}: stored pages or partitions were damaged; they are made again`)
    }
    await queue.clear(plan.id)
  }
}

const damaged = ({ job }: Plan) => {
  const fix = 'Check the disk or object store of the output, then run the same command again: it resumes.'
  return new ExportError('OUTPUT_FAILED', `${job.name}: stored pages are damaged`, { fix })
}

/** Has everything read that is missing, and fixes what partitions are made of. */
async function readAll(going: Coordinating): Promise<Reading> {
  const { plan, record, queue } = going
  const notes = READS.open(record, plan)
  const wallets = walletsOf(plan)
  const missing = async () => {
    const covered = (await notes.list()).map((read) => read.covered)
    return planReads(wallets, covered)
  }
  await finishUnits(going, { kind: 'read', missing })
  const reads = selectReads(await notes.list())
  const end = await finishReads({ ...going, server: queue.server }, reads)
  return fixReading(record, plan, { reads, end })
}

/**
 * Has all partitions made; resolves with one of each, in the order of their blocks. Undefined where a worker found damaged
 * pages and forgot them: they are to be read again first.
 */
async function writeAll(
  going: Coordinating,
  reading: Reading,
  joined: readonly BlockRange[],
): Promise<Write[] | undefined> {
  const { plan, record } = going
  const notes = WRITES.open(record, plan)
  const units = joinWrites(planPartitions(plan, reading), joined)
  const missing = async () => {
    const made = await listWrites(notes, reading.sha256)
    return units.filter((unit) => !made.has(nameRange(unit)))
  }
  const isCurrent = async () => (await findReading(record, plan))?.sha256 === reading.sha256
  if (!(await finishUnits(going, { kind: 'write', missing, isCurrent }))) return undefined
  const made = await listWrites(notes, reading.sha256)
  return units.flatMap((unit) => made.get(nameRange(unit)) ?? [])
}

/** All partitions: where those by time begin is known once all is read. */
function planPartitions({ range: { from }, partitionBy }: Plan, { reads, end: to }: Reading): WriteUnit[] {
  const [, blocks] = /^blocks:(\d+)$/.exec(partitionBy) ?? []
  if (blocks !== undefined) return planWrites({ from, to }, Number(blocks))
  return planWritesAt({ from, to }, joinStarts(reads.map(({ starts }) => starts)))
}

type Phase = {
  kind: Kind
  missing: () => Promise<Unit[]>
  /** False once the units can no longer be done. @default they always can */
  isCurrent?: () => Promise<boolean>
}

/** Resolves with true once all units are done; with false where they can no longer be done. */
async function finishUnits(going: Coordinating, { kind, missing, isCurrent }: Phase): Promise<boolean> {
  const { queue, run, plan } = going
  let [empty, plannings, lonely] = [EMPTY_LOOKS, 0, 0]
  for (;;) {
    going.signal.throwIfAborted()
    await queue.server.announce(run)
    const { left, failed } = await queue.counts(plan.id, kind)
    const alive = await queue.server.workers()
    lonely = [...alive.values()].includes(GENERATOR) ? 0 : lonely + 1
    if (lonely === NO_WORKER_LOOKS) going.onNotice(`${plan.job.name}: ${describeNoWorker(alive)}`)
    const lost = await queue.reclaim({ id: plan.id, kind, isAlive: (worker) => alive.has(worker) })
    await noteProgress(going)
    await noteWait(going)
    empty = left <= lost ? empty + 1 : 0
    if (empty >= EMPTY_LOOKS) {
      const units = await missing()
      if (units.length === 0) return true
      if (isCurrent !== undefined && !(await isCurrent())) return false
      if (failed > 0) throw await unitsFailed(going, kind)
      if (plannings > 0) sayAgain(going, units)
      await queue.add(plan.id, units)
      plannings += 1
      empty = 0
    }
    await wait(LOOK_MS, undefined, { signal: going.signal }).catch(() => going.signal.throwIfAborted())
  }
}

function describeNoWorker(alive: AliveWorkers): string {
  const others = [...new Set(alive.values())].join(', ')
  const start = 'start one with walletlake worker and the same --queue'
  if (alive.size === 0) return `no worker is there; ${start}`
  const count = alive.size === 1 ? 'the only worker is' : `all ${alive.size} workers are`
  return `no worker of ${GENERATOR} is there: ${count} of ${others}; ${start} and of this version`
}

function sayAgain({ plan, onNotice }: Coordinating, units: readonly Unit[]): void {
  const what = units.length === 1 ? '1 unit is' : `${units.length} units are`
  onNotice(`${plan.job.name}: the queue lost units; ${what} planned again, what is stored is not asked again`)
}

/** Units that were given up, as the failure of the run: what was read stays. */
async function unitsFailed({ queue, plan }: Coordinating, kind: Kind): Promise<ExportError> {
  const failed = await queue.failed(plan.id, kind)
  const named = failed.slice(0, MOST_NAMED).map(({ unit, why }) => `${unit} (${why})`)
  const more = failed.length > MOST_NAMED ? [`and ${failed.length - MOST_NAMED} more`] : []
  const count = failed.length === 1 ? '1 unit' : `${failed.length} units`
  return new ExportError('UNITS_FAILED', `${count} failed for good: ${[...named, ...more].join('; ')}`)
}

const MOST_NAMED = 5

/** What the workers count, for progress and summary. */
async function noteProgress({ queue, plan, figures }: Coordinating): Promise<void> {
  Object.assign(figures, await readTally(queue.server, plan.id))
}

/**
 * Takes note that all workers wait because the service asked for it: a wait past the deadline ends the run. Shorter pauses may
 * be of the workers' own making.
 */
async function noteWait({ queue, run, plan, noteWait, onNotice }: Coordinating): Promise<void> {
  const { pausedMs } = await readQuota(queue.server.book(run.quota))
  const notice = pausedMs > SHARED_PACE.longestHoldMs ? noteWait(pausedMs) : undefined
  if (notice !== undefined) onNotice(`${plan.job.name}: ${notice}`)
}
