import { createHash, randomBytes } from 'node:crypto'
import * as v from 'valibot'
import { ExportError } from '../core/model/errors.ts'
import { atomicListing } from '../core/model/listings.ts'
import { type Coverage, type Manifest, rowsEndOf } from '../core/model/manifest.ts'
import { isCoverageManifest } from '../core/model/manifest-schema.ts'
import type { BlockRange, BucketLocation, Job, PartitionBy } from '../core/model/model.ts'
import { GENERATOR } from '../core/model/version.ts'
import { FIELDS } from '../job/fields/fields.ts'
import { plainShapes } from '../job/resolve/settings.ts'
import { block, bucketLocation, count, printableLine, runId, sha256, token, version } from './schemas.ts'

/** Version of the run state's layout. A plan of another version is not accepted. */
const PLAN_FORMAT = 4

const isUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

const partitionBy: v.GenericSchema<unknown, PartitionBy> = v.custom<PartitionBy>(
  (value) => typeof value === 'string' && /^(day|month|blocks:[1-9]\d{0,11})$/.test(value),
)

/**
 * All properties of a job: its fields as they are parsed from job files, and what is stricter or not a field. The
 * `satisfies` clause makes another new property a compile error here: otherwise workers would not receive it.
 */
const JOB_FIELDS = {
  ...plainShapes(),
  name: FIELDS.name.parsed,
  file: printableLine,
  chain: FIELDS.chain.parsed,
  wallets: FIELDS.addresses.parsed,
  startBlock: block,
  endBlock: block,
  compression: FIELDS.compression.parsed,
  output: printableLine,
  store: v.optional(bucketLocation),
  partitionBy,
  targetFileBytes: v.optional(FIELDS.targetFileSize.parsed),
  finalityMs: FIELDS.finality.parsed,
  nativeSymbol: v.nullable(FIELDS.nativeSymbol.parsed),
  escapeFormulas: v.boolean(),
  service: v.strictObject({
    baseUrl: v.pipe(printableLine, v.check(isUrl)),
    api: FIELDS['service.api'].parsed,
    apiKeyHeader: FIELDS['service.apiKeyHeader'].parsed,
    timeoutMs: FIELDS['service.timeout'].parsed,
    tier: v.optional(FIELDS['service.tier'].parsed),
    computeUnitsPerMinute: v.optional(FIELDS['service.computeUnitsPerMinute'].parsed),
    computeUnitsPerDay: v.optional(FIELDS['service.computeUnitsPerDay'].parsed),
    computeUnits: v.optional(FIELDS['service.computeUnits'].parsed),
  }),
  catalog: v.optional(
    v.strictObject({
      uri: v.pipe(printableLine, v.check(isUrl)),
      warehouse: v.optional(FIELDS['catalog.warehouse'].parsed),
      namespace: FIELDS['catalog.namespace'].parsed,
    }),
  ),
} satisfies { [field in keyof Required<Job>]: v.GenericSchema }

const JOB_SCHEMA: v.GenericSchema<unknown, Job> = v.strictObject(JOB_FIELDS)

const PLAN_FIELDS = v.strictObject({
  format: v.literal(PLAN_FORMAT),
  /** The version that started the run; no other version continues it. */
  version,
  /** Random token of this attempt. Everything that is written for it is stored under this name. */
  attempt: token,
  /** Name of the attempt in the queue. */
  id: runId,
  /** The output, as in `Destination`. */
  output: printableLine,
  store: v.optional(bucketLocation),
  job: JOB_SCHEMA,
  /** Block range of the run. If the chain has not reached its end, the export ends earlier. */
  range: v.strictObject({ from: block, to: block }),
  /** How tables are partitioned. A partition is the smallest unit that is written independently. */
  partitionBy,
  /**
   * The previous export, reduced to the wallets that were removed from the job, without files: the rows of
   * these wallets are retained up to the block to which they were read. Undefined if there is no such wallet.
   */
  before: v.optional(v.custom<Manifest>(isCoverageManifest)),
  /** Whether the run replaces everything in the output. */
  isFresh: v.boolean(),
  begunMs: count,
  /** Hash of everything that determines the bytes of the export. */
  sha256,
})

/** What all tasks of a run share. It is stored next to the pages, so that a worker needs nothing else. */
export type Plan = v.InferOutput<typeof PLAN_FIELDS>

export const PLAN_SCHEMA = v.pipe(
  PLAN_FIELDS,
  v.check((plan) => plan.id === `${plan.job.name}-${plan.attempt}` && plan.sha256 === hashPlan(plan)),
  v.check(({ job, range }) => job.startBlock === range.from && job.endBlock === range.to),
)

/**
 * Destination of an export, the same for all machines: the real path of a folder, or an object store with its
 * endpoint.
 */
export type Destination = { output: string; store?: BucketLocation | undefined }

/** A job that a queue run supports. */
export type QueueJob = { job: Job; range: BlockRange; partitionBy: PartitionBy }

/** Checks that a queue run supports a job. Throws USAGE with all required changes otherwise. */
export function checkQueueJob(job: Job): QueueJob {
  const { file, endBlock, partitionBy, startBlock } = job
  const unsupported = unsupportedByQueue(job)
  if (endBlock !== undefined && partitionBy !== undefined && unsupported.length === 0)
    return { job, range: { from: startBlock, to: endBlock }, partitionBy }
  throw new ExportError(
    'USAGE',
    `${file}: a queue run does not support ${unsupported.map(({ what }) => what).join(', ')} yet`,
    { fix: unsupported.map(({ fix }) => fix).join(' ') },
  )
}

function unsupportedByQueue({ kind, endBlock, partitionBy, keepRaw, service }: Job) {
  if (kind !== 'wallets') return [{ what: 'block jobs', fix: 'Run it without --queue.' }]
  const features = [
    {
      isUsed: endBlock === undefined,
      what: 'jobs without endBlock',
      fix: 'Set endBlock, or run it without --queue.',
    },
    {
      isUsed: partitionBy === undefined,
      what: 'jobs without partitionBy',
      fix: 'Set partitionBy (or --partition-by): day, month or blocks:<n>, with about 10 to 100 partitions.',
    },
    { isUsed: keepRaw, what: 'keepRaw', fix: 'Set keepRaw: false, or run it without --queue.' },
    {
      isUsed: service.baseUrl === 'demo',
      what: 'the embedded service',
      fix: 'Start `walletlake serve` and set --base-url to its URL.',
    },
  ]
  return features.filter(({ isUsed }) => isUsed)
}

export type AttemptOptions = QueueJob & {
  destination: Destination
  /** The manifest of the existing export. */
  existing: Manifest | undefined
  isFresh: boolean
  now: number
}

/** Plans a new attempt. */
export function planAttempt({
  job,
  range,
  partitionBy,
  destination,
  existing,
  isFresh,
  now,
}: AttemptOptions): Plan {
  const attempt = newToken()
  const { output, store } = destination
  const before = existing && retainRemovedWallets(existing, job)
  const common = { version: GENERATOR, job: { ...job, output, store }, range, partitionBy, before }
  return {
    ...common,
    format: PLAN_FORMAT,
    attempt,
    id: `${job.name}-${attempt}`,
    output,
    store,
    isFresh,
    begunMs: now,
    sha256: hashPlan(common),
  }
}

function retainRemovedWallets(existing: Manifest, { wallets, startBlock }: Job): Manifest | undefined {
  const present = new Set(wallets.map(({ address }) => address))
  const isRemoved = ({ address, toBlock }: Coverage) => !present.has(address) && toBlock > startBlock
  const rows = existing.coverage.map((wallet) => ({ ...wallet, toBlock: rowsEndOf(wallet, existing) }))
  const coverage = rows.filter(isRemoved)
  return coverage.length === 0 ? undefined : { ...existing, coverage, tables: {} }
}

/** A random, unique name. */
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

/** The settings of a job that determine the bytes of its export. */
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

/** Defined fields in a fixed order, so that a plan hashes the same after it was parsed from JSON. */
const sortedEntries = (fields: object) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** Names of the settings in which two jobs differ. */
export function differingSettings(a: Job, b: Job): string[] {
  const [before, after] = [outputSettingsOf(a), outputSettingsOf(b)] as Record<string, unknown>[]
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
}

/** A listing, by its name, and the blocks to read: that of a wallet's transactions has the wallet's address. */
export type PlannedWallet = BlockRange & { address: string }

/**
 * The listings that tasks refer to by number: those of the job's wallets, then of wallets removed from it, then the atomic
 * transactions of all of them, each with its blocks.
 */
export function walletsOf({ job, before, range }: Pick<Plan, 'job' | 'before' | 'range'>): PlannedWallet[] {
  const wallets = [
    ...job.wallets.map(({ address }) => ({ address, ...range })),
    ...(before?.coverage ?? []).map(({ address, toBlock }) => ({
      address,
      from: range.from,
      to: Math.min(range.to, toBlock),
    })),
  ]
  const atomic = wallets.map((wallet) => ({ ...wallet, address: atomicListing(wallet.address) }))
  return job.atomic ? [...wallets, ...atomic] : wallets
}
