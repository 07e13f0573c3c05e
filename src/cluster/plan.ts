import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import type { Coverage, Manifest } from '../core/model/manifest.ts'
import { isManifest } from '../core/model/manifest-schema.ts'
import type { BlockRange, BucketLocation, Job, PartitionBy } from '../core/model/model.ts'
import { GENERATOR } from '../core/model/version.ts'
import { JOB_SCHEMA, partitionBy } from './job-schema.ts'
import { block, bucketLocation, count, printableLine, runId, sha256, token, version } from './schemas.ts'

/** The layout of a run's state; workers of another one say so. */
const PLAN_FORMAT = 4

/** What all units of a run have in common; it lies beside the pages, so that a worker needs nothing else. */
export type Plan = {
  format: typeof PLAN_FORMAT
  /** The version that began the run; no other one goes on with it. */
  version: string
  /** Names this attempt of the run: everything that is written for it bears this name. */
  attempt: string
  /** Names the attempt in the queue. */
  id: string
  /** The output as `Destination` names it. */
  output: string
  store?: BucketLocation | undefined
  job: Job
  /** The blocks of the run; where the chain has not reached the last of them, its export ends earlier. */
  range: BlockRange
  /** How its files are parted; a partition is the least that can be written by itself. */
  partitionBy: PartitionBy
  /**
   * The earlier export, with those of its wallets only that are not in the job any more, and without files: the rows of
   * these wallets stay, up to where they were read. undefined: there is no such wallet.
   */
  before?: Manifest | undefined
  /** It replaces whatever the output holds. */
  isFresh: boolean
  begunMs: number
  /** A hash of all that decides the bytes of the export. */
  sha256: string
}

export const PLAN_SCHEMA: v.GenericSchema<unknown, Plan> = v.pipe(
  v.strictObject({
    ...{ format: v.literal(PLAN_FORMAT), version, attempt: token, id: runId, output: printableLine },
    ...{
      store: v.optional(bucketLocation),
      job: JOB_SCHEMA,
      range: v.strictObject({ from: block, to: block }),
      partitionBy,
    },
    ...{ before: v.optional(v.custom<Manifest>(isManifest)), isFresh: v.boolean(), begunMs: count, sha256 },
  }),
  v.check((plan) => plan.id === `${plan.job.name}-${plan.attempt}` && plan.sha256 === hashPlan(plan)),
  v.check(({ job, range }) => job.startBlock === range.from && job.endBlock === range.to),
)

/** Where a run's export goes, the same from every machine: the real path of a folder, or an object store by its endpoint. */
export type Destination = { output: string; store?: BucketLocation | undefined }

/** A job that a run over a queue takes. */
export type QueueJob = { job: Job; range: BlockRange; partitionBy: PartitionBy }

/** Checks that a queue run takes a job. Throws USAGE with what to change. */
export function checkQueueJob(job: Job): QueueJob {
  const { file, kind, endBlock, partitionBy, startBlock, keepRaw, service } = job
  const reject = (feature: string, fix: string) => {
    throw new ExportError('USAGE', `${file}: a run over a queue does not take ${feature} yet`, { fix })
  }
  if (kind !== 'wallets') reject('jobs of whole blocks', 'Run it without --queue.')
  if (endBlock === undefined)
    return reject('jobs without endBlock', 'Set endBlock, or run it without --queue.')
  if (partitionBy === undefined)
    return reject(
      'jobs without partitionBy',
      'Set partitionBy (or --partition-by): day, month or blocks:<n>, with some ten to a hundred partitions.',
    )
  if (keepRaw) reject('keepRaw', 'Set keepRaw: false, or run it without --queue.')
  if (service.baseUrl === 'demo')
    reject('the embedded service', 'Start walletlake serve, and name its address by --base-url.')
  return { job, range: { from: startBlock, to: endBlock }, partitionBy }
}

export type AttemptOptions = QueueJob & {
  destination: Destination
  /** What the output holds. */
  found: Manifest | undefined
  isFresh: boolean
  now: number
}

/** Plans a new attempt. */
export function planAttempt({
  job,
  range,
  partitionBy,
  destination,
  found,
  isFresh,
  now,
}: AttemptOptions): Plan {
  const attempt = newToken()
  const { output, store } = destination
  const before = found && retainRemovedWallets(found, job)
  const common = { version: GENERATOR, job: { ...job, output, store }, range, partitionBy, before }
  return {
    ...common,
    ...{ format: PLAN_FORMAT, attempt, id: `${job.name}-${attempt}`, output, store, isFresh, begunMs: now },
    sha256: hashPlan(common),
  }
}

function retainRemovedWallets(found: Manifest, { wallets, startBlock }: Job): Manifest | undefined {
  const present = new Set(wallets.map(({ address }) => address))
  const isRemoved = ({ address, toBlock }: Coverage) => !present.has(address) && toBlock > startBlock
  const coverage = found.coverage.filter(isRemoved)
  return coverage.length === 0 ? undefined : { ...found, coverage, tables: {} }
}

/** A name that nothing else has. */
export const newToken = (): string => randomBytes(8).toString('hex')

function hashPlan({ version, job, before }: Pick<Plan, 'version' | 'job' | 'before'>): string {
  const removedWallets = before?.coverage.map(({ address, toBlock, label = null }) => [
    address,
    toBlock,
    label,
  ])
  return createHash('sha256')
    .update(
      JSON.stringify([PLAN_FORMAT, version, sortedEntries(outputSettingsOf(job)), removedWallets ?? []]),
    )
    .digest('hex')
}

/** What of a job decides the bytes of its export. */
function outputSettingsOf({
  file: _file,
  output: _output,
  store: _store,
  concurrency: _,
  service,
  ...rest
}: Job) {
  return { ...rest, baseUrl: service.baseUrl }
}

/** Fields in one order and without absent ones, as a plan that was read again has them. */
const sortedEntries = (fields: object) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** The names of settings in which two jobs differ. */
export function differingSettings(one: Job, other: Job): string[] {
  const [before, after] = [outputSettingsOf(one), outputSettingsOf(other)] as Record<string, unknown>[]
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
}

/** What is read of one wallet. */
export type PlannedWallet = BlockRange & { address: string }

/** The wallets that units number: those of the job, then those that left it, each with its blocks. */
export function walletsOf({ job, before, range }: Pick<Plan, 'job' | 'before' | 'range'>): PlannedWallet[] {
  return [
    ...job.wallets.map(({ address }) => ({ address, ...range })),
    ...(before?.coverage ?? []).map(({ address, toBlock }) => ({
      address,
      from: range.from,
      to: Math.min(range.to, toBlock),
    })),
  ]
}
