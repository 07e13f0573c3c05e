import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { EVERYWHERE } from '../core/model/listings.ts'
import { newFigures } from '../core/model/run-stats.ts'
import { orAborted } from '../core/platform/abort-signal.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { createRefusals } from '../export/fetch/wallet-refusals.ts'
import { createWaitNotices } from '../http/wait-limits.ts'
import { type Roots, refusePlace } from './destination.ts'
import { type Plan, walletsOf } from './plan.ts'
import { addToTally, type Telling } from './progress.ts'
import { openQueue, type UnitQueue, type UnitWorker } from './queue.ts'
import { quotaName } from './rate-limit/shared-rate-limit-state.ts'
import { readUnit } from './read-task.ts'
import { sealRun } from './run-entry.ts'
import { openRunObjects, type Record, readCurrent, readPlan, recordOf } from './run-state.ts'
import type { Kind, OpenRun, QueueAddress } from './server/shared-server.ts'
import { openSharedRequester } from './shared-request-context.ts'
import { parseUnit, type Unit } from './task.ts'
import { writeUnit } from './write-task.ts'

/** How a worker works. */
export type WorkOptions = {
  queue: QueueAddress
  apiKey?: string | undefined
  /** Outputs that the worker is limited to. @default it serves every run of its API key */
  roots?: Roots
  /** Send the key unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Units that are read at once, all runs together. */
  concurrency: number
  /** How long units under way may take once the worker is to end, in milliseconds; then they are handed back. */
  shutdownMs: number
  /** Ends the worker. */
  signal: AbortSignal
  onNotice: (notice: string) => void
}

/** Between two looks at which runs there are. */
const LOOK_MS = 500
/** Partitions made at once: each takes a core and memory. */
const PARTITIONS_AT_ONCE = 2

type Serving = Telling & { workers: UnitWorker[]; close(): Promise<void> }
type Worker = {
  options: WorkOptions
  queue: UnitQueue
  id: string
  serving: Map<string, Serving>
  /** Runs that were said not to be served. */
  refused: Set<string>
  stop: AbortSignal
}

/** Does units of all runs that there are until it is told to end; every run gets the same share. */
export async function work(options: WorkOptions): Promise<void> {
  const queue = await openQueue(options.queue)
  const stop = new AbortController()
  // Every request listens to it: many listeners are no leak here.
  setMaxListeners(0, stop.signal)
  const id = `${process.pid}-${randomBytes(4).toString('hex')}`
  const worker: Worker = { options, queue, id, serving: new Map(), refused: new Set(), stop: stop.signal }
  try {
    while (!options.signal.aborted) {
      // A server that is away holds nobody who is to end.
      await orAborted(look(worker), options.signal).catch(sayTrouble(worker))
      await wait(LOOK_MS, undefined, { signal: options.signal }).catch(() => undefined)
    }
    const late = setTimeout(() => stop.abort(handedBack()), options.shutdownMs)
    await Promise.all([...worker.serving.values()].map((one) => one.close()))
    clearTimeout(late)
  } finally {
    await queue.server.sayGone(id).catch(() => undefined)
    await queue.close()
  }
}

/** What Redis answers to one look may be anything: it ends no worker, and the next look may find it mended. */
const sayTrouble =
  ({ options, refused }: Worker) =>
  (thrown: unknown) => {
    const what = `the queue cannot be read: ${toExportError(thrown).message}`
    if (!options.signal.aborted && !refused.has(what)) options.onNotice(what)
    refused.add(what)
  }

const handedBack = () => new ExportError('INTERRUPTED', 'the unit was handed back')

/** Takes up runs that are new, lets go of those that are over, and shares the places among them. */
async function look(worker: Worker): Promise<void> {
  const { queue, serving, options, id } = worker
  await queue.server.sayAlive(id)
  const found = await queue.server.runs()
  for (const { id, why } of found.bad) refuse(worker, { id, name: id }, why)
  const runs = new Map(found.runs.map((run) => [run.id, run]))
  for (const [run, one] of serving) {
    if (runs.has(run)) {
      await addToTally(queue.server, run, one)
      continue
    }
    serving.delete(run)
    void letGo(queue, run, one).catch(() => undefined)
  }
  for (const run of runs.values()) {
    if (serving.has(run.id)) continue
    const one = await serve(worker, run)
    if (one !== undefined) serving.set(run.id, one)
  }
  const share = Math.max(1, Math.floor(options.concurrency / Math.max(1, serving.size)))
  for (const { workers } of serving.values()) workers[0]?.setConcurrency(share)
}

/** Ends the work for a run that is over; what this worker has still told the queue goes too, unless the run has begun again. */
async function letGo({ server, clear }: UnitQueue, id: string, { close }: Serving): Promise<void> {
  await close()
  if ((await server.runs()).runs.some((run) => run.id === id)) return
  await server.withdraw(id)
  await clear(id)
}

/** Has others do what is left of a unit; units of a run that is over would lie about. */
async function addRest({ server, add }: UnitQueue, id: string, rest: readonly Unit[]): Promise<void> {
  if (rest.length === 0) return
  const { runs } = await server.runs()
  if (runs.some((run) => run.id === id)) await add(id, rest)
}

/** Begins to work for a run; undefined where its record cannot be seen from here. */
async function serve(worker: Worker, run: OpenRun): Promise<Serving | undefined> {
  const why = await refuseRun(worker, run)
  if (why !== undefined) return refuse(worker, run, why)
  const record = recordOf(await openRunObjects(run), run.attempt)
  const one = await serveBy(worker, run, record).catch((thrown: unknown) =>
    refuse(worker, run, toExportError(thrown).message),
  )
  if (one === undefined) await record.objects.close()
  return one
}

/** Why a run is not served, by its entry alone; undefined: it may be. */
async function refuseRun({ options }: Worker, run: OpenRun): Promise<string | undefined> {
  if (sealRun(run, options.apiKey) !== run.seal)
    return 'it was begun with another key than WALLETLAKE_API_KEY here, or its entry in the queue was changed'
  return refusePlace(run, options.roots)
}

/** Why the record does not fit a run's entry; undefined: it does. */
function refusePlan(plan: Plan, run: OpenRun, apiKey: string | undefined): string | undefined {
  const { id, output, store, version } = plan
  const isSame = JSON.stringify([id, output, store, version])
  if (isSame !== JSON.stringify([run.id, run.output, run.store, run.version]))
    return `${run.output} has another plan than the queue says`
  // Who has no key cannot name a service that this one's key is then sent to.
  const { baseUrl = '' } = plan.job.service
  return quotaName({ baseUrl, apiKey }) === run.quota
    ? undefined
    : 'it was begun with another key than WALLETLAKE_API_KEY here'
}

async function serveBy(worker: Worker, run: OpenRun, record: Record): Promise<Serving | undefined> {
  const { options, queue, stop } = worker
  const plan = (await readCurrent(record.objects)) === run.attempt ? await readPlan(record) : undefined
  if (plan === undefined)
    return refuse(worker, run, `no plan in ${run.output}: all machines must see this place`)
  const why = refusePlan(plan, run, options.apiKey)
  if (why !== undefined) return refuse(worker, run, why)
  const figures = newFigures(plan.job.wallets.length, Date.now())
  const { requester, close } = openRequesterOf(worker, { plan, run, figures })
  const wallets = walletsOf(plan)
  const listings = new Map(wallets.map(({ address }) => [address, EVERYWHERE]))
  const refusals = createRefusals({ job: plan.job, listings, requester, figures })
  const working = { plan, record, requester, figures, refusals }
  const telling: Telling = { figures, told: {} }
  const bounds = { wallets: wallets.length, range: plan.range }
  const act = async (data: unknown) => {
    const unit = parseUnit(data, bounds)
    if (unit === undefined)
      throw new ExportError('UNITS_FAILED', 'its entry in the queue is no unit of this run')
    if (unit.kind === 'write') await writeUnit(working, unit)
    else await addRest(queue, run.id, await readUnit(working, unit))
    await addToTally(queue.server, run.id, telling)
  }
  const begin = (kind: Kind, concurrency: number) =>
    queue.work({
      id: run.id,
      worker: worker.id,
      kind,
      concurrency,
      act,
      isFinal,
      isHandedBack: () => stop.aborted,
    })
  const workers = [begin('read', options.concurrency), begin('write', PARTITIONS_AT_ONCE)]
  options.onNotice(`${run.name}: working for ${run.id}`)
  const closeAll = async () => {
    await Promise.all(workers.map((one) => one.close()))
    await close()
    await record.objects.close()
  }
  return { ...telling, workers, close: closeAll }
}

/** Says once why this worker does nothing for a run. */
function refuse(
  { refused, options }: Worker,
  { id, name }: Pick<OpenRun, 'id' | 'name'>,
  why: string,
): undefined {
  if (!refused.has(id + why)) options.onNotice(`${name}: not served: ${why}`)
  refused.add(id + why)
}

type Served = { plan: Plan; run: OpenRun; figures: ReturnType<typeof newFigures> }

function openRequesterOf({ options, queue, stop }: Worker, served: Served) {
  const { apiKey, allowPlainHttp, concurrency, onNotice } = options
  return openSharedRequester({
    ...{ ...served, server: queue.server, apiKey, allowPlainHttp, onNotice },
    limit: limitConcurrency(concurrency),
    signal: stop,
    noteWait: createWaitNotices(),
  })
}

/** What a unit fails with for good: another try would be answered the same. */
const isFinal = (thrown: unknown) =>
  thrown instanceof ExportError && !thrown.failure.retry && thrown.code !== 'BUG'
