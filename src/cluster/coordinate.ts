import { setTimeout as wait } from 'node:timers/promises'
import { ExportError } from '../core/errors.ts'
import type { Figures } from '../core/figures.ts'
import type { Store } from '../store/store.ts'
import { joinStarts } from './partition-starts.ts'
import type { Plan } from './plan.ts'
import { planReads, planWrites, planWritesAt } from './plan-units.ts'
import { publishRun } from './publish-run.ts'
import type { UnitQueue } from './queue.ts'
import { listPages, listPartitions, listStarts, type Record } from './record.ts'
import type { Kind, OpenRun } from './server/shared-server.ts'
import { readTally } from './tally.ts'
import { describeUnit, type Unit, type WriteUnit } from './unit.ts'

export type Coordinating = {
  plan: Plan
  record: Record
  store: Store
  queue: UnitQueue
  run: OpenRun
  figures: Figures
  signal: AbortSignal
  onNotice: (notice: string) => void
}

/** Between two looks at the queue. */
const LOOK_MS = 300
/** Looks without any worker after which that is said. */
const LONELY_LOOKS = 10
/** Looks at an empty queue after which what the record lacks is planned again: an ending unit may just be adding others. */
const EMPTY_LOOKS = 2

/**
 * Has workers read all pages, then make all partitions, and publishes these. What is to be done comes from the record alone:
 * a queue that is empty before all is done has lost its units, which are planned again.
 */
export async function coordinate(going: Coordinating): Promise<void> {
  const { figures, plan, record, store } = going
  figures.phase = 'reading'
  await finishUnits(going, { kind: 'read', missing: () => missingReads(going) })
  figures.phase = 'writing'
  await finishUnits(going, { kind: 'write', missing: () => missingWrites(going) })
  await publishRun({ plan, record, store, figures }, await listPartitions(record))
}

async function missingReads({ plan, record }: Coordinating): Promise<Unit[]> {
  const whole = { wallets: plan.job.wallets.length, range: plan.range }
  return planReads(whole, await listPages(record))
}

async function missingWrites({ plan, record }: Coordinating): Promise<Unit[]> {
  const made = new Set((await listPartitions(record)).map(({ from, to }) => `${from}-${to}`))
  return (await planPartitions(plan, record)).filter(({ from, to }) => !made.has(`${from}-${to}`))
}

/** All partitions: where those by time begin is known once all is read. */
async function planPartitions({ range, partitionBy }: Plan, record: Record): Promise<WriteUnit[]> {
  const [, blocks] = /^blocks:(\d+)$/.exec(partitionBy) ?? []
  if (blocks !== undefined) return planWrites(range, Number(blocks))
  return planWritesAt(range, joinStarts(await listStarts(record)))
}

type Phase = { kind: Kind; missing: () => Promise<Unit[]> }

async function finishUnits(going: Coordinating, { kind, missing }: Phase): Promise<void> {
  const { queue, run, plan } = going
  let [empty, plannings, lonely] = [EMPTY_LOOKS, 0, 0]
  for (;;) {
    going.signal.throwIfAborted()
    await queue.server.announce(run)
    const { left, failed } = await queue.counts(plan.id, kind)
    const alive = await queue.server.workers()
    lonely = alive.size === 0 ? lonely + 1 : 0
    if (lonely === LONELY_LOOKS) sayLonely(going)
    const lost = await queue.reclaim({ id: plan.id, kind, isAlive: (worker) => alive.has(worker) })
    await noteProgress(going)
    empty = left <= lost ? empty + 1 : 0
    if (empty >= EMPTY_LOOKS) {
      const units = await missing()
      if (units.length === 0) return
      if (failed > 0) throw await unitsFailed(going, kind)
      if (plannings > 0) sayAgain(going, units)
      await queue.add(plan.id, units)
      plannings += 1
      empty = 0
    }
    await wait(LOOK_MS, undefined, { signal: going.signal }).catch(() => going.signal.throwIfAborted())
  }
}

function sayLonely({ plan, onNotice }: Coordinating): void {
  onNotice(`${plan.job.name}: no worker is there; start one with walletlake worker and the same --queue`)
}

function sayAgain({ plan, onNotice }: Coordinating, units: readonly Unit[]): void {
  const what = units.length === 1 ? '1 unit is' : `${units.length} units are`
  onNotice(`${plan.job.name}: the queue lost units; ${what} planned again, what is stored is not asked again`)
}

/** Units that were given up, as the failure of the run: what was read stays. */
async function unitsFailed({ queue, plan }: Coordinating, kind: Kind): Promise<ExportError> {
  const failed = await queue.failed(plan.id, kind)
  const named = failed.slice(0, MOST_NAMED).map(({ unit, why }) => `${describeUnit(unit)} (${why})`)
  const more = failed.length > MOST_NAMED ? [`and ${failed.length - MOST_NAMED} more`] : []
  const count = failed.length === 1 ? '1 unit' : `${failed.length} units`
  return new ExportError('UNITS_FAILED', `${count} failed for good: ${[...named, ...more].join('; ')}`)
}

const MOST_NAMED = 5

/** What the workers count, for progress and summary. */
async function noteProgress({ queue, plan, figures }: Coordinating): Promise<void> {
  Object.assign(figures, await readTally(queue.server, plan.id))
}
