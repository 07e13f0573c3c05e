import type { FeeCheckpoint } from '../../checkpoint/fees.ts'
import { paysGasOnly } from '../../core/model/chains.ts'
import { feeKey } from '../../core/model/fees.ts'
import type { Job } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import type { RequestContext } from '../../http/request.ts'
import { sourceOf } from '../../sources/index.ts'
import { formatDuration, formatInteger } from '../../terminal/format.ts'
import type { FeeResolver, FeeSource, OpenFees } from '../../transform/fees.ts'
import { fingerprint } from '../../transform/merge/fingerprints.ts'
import type { OpenFee } from '../../transform/staged/page-index.ts'
import { MAX_FURTHER_PROBES, MAX_PROBES, openProbe, type Probe, type RequestFee } from './probe.ts'

export type FeeResolverOptions = {
  job: Pick<Job, 'name' | 'kind' | 'chain' | 'fees' | 'feesBudget' | 'concurrency' | 'service'>
  checkpoint: FeeCheckpoint
  requestContext: RequestContext
  stats: Pick<RunStats, 'requests' | 'startedMs'>
  onNotice: (notice: string) => void
}

const LISTING: FeeSource = { from: 'listing' }
const EFFECTIVE: FeeSource = { from: 'effective listing' }
const UNDECIDED: FeeSource = { from: 'undecided' }

/** Opens the resolver for the fees of a job. Sends no requests until transactions are offered or resolved. */
export function openFeeResolver(options: FeeResolverOptions): FeeResolver {
  const { job, checkpoint, requestContext } = options
  const { readFee } = sourceOf(job.service.api)
  if (job.kind === 'blocks' || job.fees === 'listed' || readFee === undefined) return fixedFees(LISTING)
  const requestFee: RequestFee = ({ hash, blockHash }) =>
    readFee(requestContext, { chain: job.chain, hash, blockHash })
  const onUnavailable = ({ message }: Error) =>
    options.onNotice(
      `${job.name}: fees may be upper bounds, because the details of transactions cannot be read (${message}); --fees exact tries again`,
    )
  return new DetailsResolver(options, requestFee, openProbe(checkpoint, requestFee, onUnavailable))
}

/** A resolver whose prices are known from the beginning. */
export function fixedFees(fees: FeeSource): FeeResolver {
  return { current: () => fees, offer: () => {}, resolve: async () => fees, close: async () => {} }
}

class DetailsResolver implements FeeResolver {
  readonly #options: FeeResolverOptions
  readonly #requestFee: RequestFee
  readonly #probe: Probe
  /** Keys of transactions whose details the service did not have. */
  readonly #absent = new Set<string>()
  #resolved: FeeSource | undefined
  #detailCount = 0
  #running: Promise<unknown> | undefined
  #isNoticed = false

  constructor(options: FeeResolverOptions, requestFee: RequestFee, probe: Probe) {
    this.#options = options
    this.#requestFee = requestFee
    this.#probe = probe
    if (options.checkpoint.fees.details.size > 0) this.#resolved = this.#knownDetails()
  }

  current(): FeeSource {
    return this.#probed() ?? this.#resolved ?? UNDECIDED
  }

  offer(transaction: OpenFee): void {
    if (this.#options.job.fees === 'auto') this.#probe.offer(transaction)
  }

  resolve(transactions: () => OpenFees): Promise<FeeSource> {
    const resolving = this.#resolve(transactions)
    this.#running = resolving.catch(() => undefined)
    return resolving
  }

  async #resolve(transactions: () => OpenFees): Promise<FeeSource> {
    if (this.#options.job.fees === 'auto') await this.#finishProbe(transactions)
    const probed = this.#probed()
    if (probed !== undefined) return probed
    const fetches = this.#options.job.fees === 'exact' || (await this.#isWithinBudget(transactions))
    if (fetches) await this.#fetchAll(transactions)
    const { listedPrice } = this.#options.checkpoint.fees
    this.#resolved = !fetches && listedPrice === 'effective' ? EFFECTIVE : this.#knownDetails()
    return this.#resolved
  }

  /** The details in the checkpoint, as the same object if there are no new ones. */
  #knownDetails(): FeeSource {
    const { details } = this.#options.checkpoint.fees
    if (details.size === 0) return LISTING
    if (this.#resolved?.from === 'details' && this.#detailCount === details.size) return this.#resolved
    this.#detailCount = details.size
    return { from: 'details', details }
  }

  async close(): Promise<void> {
    await this.#running
    await this.#probe.done().catch(() => undefined)
  }

  /** The prices if the probe makes details unnecessary or shows that there are none. */
  #probed(): FeeSource | undefined {
    const { job, checkpoint } = this.#options
    if (job.fees !== 'auto') return undefined
    const { listedPrice } = checkpoint.fees
    if (listedPrice === 'no details') return LISTING
    // Only details state the parts of a fee beyond its gas.
    return listedPrice === 'effective' && paysGasOnly(job.chain) !== false ? EFFECTIVE : undefined
  }

  async #finishProbe(transactions: () => OpenFees): Promise<void> {
    await this.#probe.done()
    for await (const transaction of transactions()) {
      if (!this.#probe.isOpen()) return
      this.#probe.offer(transaction)
      await this.#probe.done()
    }
  }

  async #isWithinBudget(transactions: () => OpenFees): Promise<boolean> {
    if (this.#probe.result() === 'no details') return false
    const { job, checkpoint, stats, onNotice } = this.#options
    const missing = new Set<number>()
    const sample = new SmallestKeys<OpenFee>(MAX_FURTHER_PROBES)
    for await (const transaction of transactions()) {
      if (this.#isKnown(transaction)) continue
      const key = fingerprint(transaction.hash + transaction.blockHash)
      missing.add(key)
      sample.add(key, transaction)
    }
    if (missing.size <= job.feesBudget) return true
    // Which transactions the probe tried first depends on the order of arrival. These are the same in every run.
    this.#probe.extend()
    await this.#finishProbe(() => sample.values())
    if (checkpoint.fees.listedPrice === 'effective') return false
    if (!this.#isNoticed) onNotice(`${job.name}: ${overBudgetNotice(missing.size, job, stats)}`)
    this.#isNoticed = true
    return false
  }

  #isKnown({ hash, blockHash }: OpenFee): boolean {
    const key = feeKey(blockHash, hash)
    return this.#absent.has(key) || this.#options.checkpoint.fees.details.has(key)
  }

  async #fetchAll(transactions: () => OpenFees): Promise<void> {
    let batch = new Map<string, OpenFee>()
    for await (const transaction of transactions()) {
      if (this.#isKnown(transaction)) continue
      batch.set(feeKey(transaction.blockHash, transaction.hash), transaction)
      if (batch.size < this.#batchSize()) continue
      await this.#fetchBatch(batch)
      batch = new Map()
      if (this.#batchSize() === 0) return
    }
    await this.#fetchBatch(batch)
  }

  /** The first batch is small, to find out whether the service has details; 0 if it has none. */
  #batchSize(): number {
    if (this.#options.checkpoint.fees.details.size > 0) return FETCH_BATCH
    return this.#absent.size < MAX_PROBES ? MAX_PROBES : 0
  }

  /** Waits for all requests, also if one fails, because their results are stored. */
  async #fetchBatch(batch: ReadonlyMap<string, OpenFee>): Promise<void> {
    const limit = limitConcurrency(this.#options.job.concurrency)
    let failure: { error: unknown } | undefined
    const fetchUnlessFailed = async (key: string, transaction: OpenFee) => {
      if (failure !== undefined) return
      await this.#fetch(key, transaction).catch((error: unknown) => {
        failure ??= { error }
      })
    }
    await Promise.all(
      [...batch].map(([key, transaction]) => limit(() => fetchUnlessFailed(key, transaction))),
    )
    if (failure !== undefined) throw failure.error
  }

  async #fetch(key: string, transaction: OpenFee): Promise<void> {
    const { checkpoint } = this.#options
    const { hash, blockHash } = transaction
    const details = checkpoint.fees.probes.get(key) ?? (await this.#requestFee(transaction))
    if (details === undefined) this.#absent.add(key)
    else await checkpoint.addFee({ hash, blockHash, ...details })
  }
}

/** Transactions whose details are requested before the next pages are looked at. */
const FETCH_BATCH = 2_000

/** Says what exact fees would cost, at the rate of the run so far. */
function overBudgetNotice(
  missing: number,
  { feesBudget }: Pick<Job, 'feesBudget'>,
  { requests, startedMs }: Pick<RunStats, 'requests' | 'startedMs'>,
): string {
  const count = formatInteger(missing)
  const seconds = Math.max(0.001, (Date.now() - startedMs) / 1000)
  const time = requests === 0 ? '' : `, about ${formatDuration((missing / (requests / seconds)) * 1000)}`
  return (
    `the fees of ${count} transactions are upper bounds, because the service may list fee caps and their details ` +
    `exceed the budget of ${formatInteger(feesBudget)}; --fees exact costs ${count} requests${time}`
  )
}

/** Keeps the values with the smallest keys: a sample that does not depend on the order in which values are added. */
export class SmallestKeys<T> {
  readonly #size: number
  #entries: { key: number; value: T }[] = []

  constructor(size: number) {
    this.#size = size
  }

  add(key: number, value: T): void {
    this.#entries.push({ key, value })
    if (this.#entries.length >= 2 * this.#size) this.#trim()
  }

  /** The values in the order of their keys. */
  values(): T[] {
    this.#trim()
    return this.#entries.map(({ value }) => value)
  }

  #trim(): void {
    this.#entries = this.#entries.sort((a, b) => a.key - b.key).slice(0, this.#size)
  }
}
