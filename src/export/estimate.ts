import { countBlocks } from '../core/model/block-ranges.ts'
import type { Coverage } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { DAY_MS } from '../core/model/utc.ts'
import { sourceOf } from '../sources/index.ts'
import type { Meter } from '../sources/service-access.ts'
import { MAX_PROBES } from './fees/probe.ts'
import type { PastRun } from './history/past-runs.ts'
import type { JobState } from './inspect-output.ts'
import { mainOperation, meterOf } from './open-request-context.ts'

/** The estimated cost of a run, computed without sending requests. Unknown values are undefined. */
export type Estimate = {
  /** Minimum number of requests. */
  minRequests: number
  /** How many of these are for the listings of internal transactions. */
  internals: number
  /** Expected number of requests. */
  requests: number | undefined
  /**
   * Requests of an unfinished run whose remaining blocks are `MAX_DENSITY_RATIO` times as dense as those that were
   * read. Not a bound. Undefined if `requests` is not extrapolated from a part of the history.
   */
  maxRequests: number | undefined
  /** Minimum number of requests for atomic transactions, in addition. Undefined if the job does not read them. */
  atomicRequests?: number | undefined
  /** Requests per second of an earlier run, and the duration of this run at that rate. */
  perSecond: number | undefined
  seconds: number | undefined
  /** Average bytes per transaction in the files of the export, and the bytes of the new transactions. */
  bytesPerTransaction: number | undefined
  bytes: number | undefined
}

/** Estimates a run from the export, the checkpoint of an unfinished run and the reports of earlier runs. */
export function estimateRun(job: Job, state: JobState, runs: readonly PastRun[]): Estimate {
  const { minRequests, internals, requests, transactions } =
    job.kind === 'blocks' ? estimateBlocks(state) : estimateWallets(job, state, runs)
  const timed = runs.find((run) => run.requests > 0 && run.seconds > 0)
  const perSecond = timed && timed.requests / timed.seconds
  const bytesPerTransaction = averageTransactionBytes(state)
  return {
    minRequests,
    internals,
    requests,
    perSecond,
    bytesPerTransaction,
    atomicRequests: state.atomicRanges,
    maxRequests: state.state === 'unfinished' && job.kind === 'wallets' ? upperBound(requests) : undefined,
    seconds: perSecond && requests !== undefined ? requests / perSecond : undefined,
    bytes:
      bytesPerTransaction !== undefined && transactions !== undefined
        ? bytesPerTransaction * transactions
        : undefined,
  }
}

/** Ratio between the density of the remaining history and that of the part that was read, for the upper estimate. */
export const MAX_DENSITY_RATIO = 4

const upperBound = (requests: number | undefined) => requests && Math.ceil(requests * MAX_DENSITY_RATIO)

type RequestEstimate = Pick<Estimate, 'minRequests' | 'internals' | 'requests'> & {
  transactions: number | undefined
}

/** Each block takes one request, or several if it is large. */
function estimateBlocks({ blocks, pages, items }: JobState): RequestEstimate {
  const remainingBlocks = countBlocks(blocks)
  return {
    minRequests: remainingBlocks,
    internals: 0,
    requests: remainingBlocks,
    transactions: pages > 0 ? (items / pages) * remainingBlocks : undefined,
  }
}

function estimateWallets(job: Job, state: JobState, runs: readonly PastRun[]): RequestEstimate {
  const ranges = state.wallets.reduce((sum, { remaining }) => sum + remaining.length, 0)
  // Internal transactions have a listing of their own. How many pages it has is unknown.
  const internals = job.internals === 'full' ? ranges : 0
  const { pageSize, listingsPerWallet = 1 } = sourceOf(job.service.api)
  const minRequests = ranges * listingsPerWallet + internals
  if (ranges === 0) return { minRequests, internals, requests: 0, transactions: 0 }
  const listings = minRequests / ranges
  const amount =
    state.state === 'unfinished'
      ? remainingUsage(job, state, internals)
      : incrementalUsage(state, { runs, listings, pageSize })
  // If no page has reached endBlock, findEnd sends one more request.
  const checksEnd = job.endBlock === undefined || (state.head ?? -1) >= job.endBlock - 1 ? 0 : 1
  const requests = amount && Math.max(minRequests, Math.ceil(amount.requests)) + checksEnd
  return { minRequests, internals, requests, transactions: amount?.transactions }
}

type Usage = { requests: number; transactions: number } | undefined

/**
 * Extrapolates the usage of the remaining blocks from the usage per block of the pages in the checkpoint, each of which
 * counts as one request.
 *
 * @param internals requests for internal transactions, which come on top
 */
function remainingUsage(job: Job, { wallets, pages, items, head }: JobState, internals: number): Usage {
  const end = job.endBlock ?? (head === undefined ? undefined : head + 1)
  if (end === undefined) return undefined
  const totalBlocks = (end - job.startBlock) * wallets.length
  const remainingBlocks = wallets
    .flatMap(({ remaining }) => remaining)
    .reduce((sum, { from, to = end }) => sum + to - from, 0)
  const share = remainingBlocks / (totalBlocks - remainingBlocks)
  return totalBlocks > remainingBlocks
    ? { requests: pages * share + internals, transactions: items * share }
    : undefined
}

/**
 * Estimates an incremental run: an existing wallet takes as much as in the last incremental run, a new wallet
 * as much as the average complete history of the others. In a run that starts over, each wallet takes as much as its
 * exported history.
 */
function incrementalUsage(
  { state, wallets, manifest }: JobState,
  { runs, listings, pageSize }: { runs: readonly PastRun[]; listings: number; pageSize: number },
): Usage {
  if (manifest === undefined) return undefined
  const exported = new Map(manifest.coverage.map(({ address, transactions }) => [address, transactions]))
  const open = wallets.filter(({ remaining }) => remaining.length > 0)
  const complete = open.filter(({ address }) => state === 'not begun' || !exported.has(address))
  const added = complete.length
  const lastIncremental = runs.find(
    (run) => run.error === null && isIncremental(run, manifest.job.startBlock),
  )
  if (lastIncremental === undefined && added < open.length) return undefined
  const share =
    lastIncremental === undefined ? 0 : (open.length - added) / Math.max(1, lastIncremental.wallets)
  const mean = meanTransactions(manifest.coverage)
  let [requests, transactions] = [0, 0]
  for (const { address } of complete) {
    const count = exported.get(address) ?? mean
    requests += Math.ceil((count + 1) / pageSize) + listings - 1
    transactions += count
  }
  return {
    requests: share * (lastIncremental?.requests ?? 0) + requests,
    transactions: share * (lastIncremental?.transactions ?? 0) + transactions,
  }
}

/** Whether a run was incremental. The first run of an export is not: it read the whole history. */
function isIncremental({ state, fromBlock }: PastRun, startBlock: number): boolean {
  return state === 'unchanged' || (typeof fromBlock === 'number' && fromBlock > startBlock)
}

function meanTransactions(coverage: readonly Coverage[]): number {
  return coverage.reduce((sum, { transactions }) => sum + transactions, 0) / Math.max(1, coverage.length)
}

/** Bytes of all files per transaction and wallet. A transaction of several wallets counts once per wallet. */
function averageTransactionBytes({ manifest }: JobState): number | undefined {
  if (manifest === undefined) return undefined
  const files = Object.values(manifest.tables).flatMap((table) => table.files)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const seen = manifest.coverage.reduce((sum, { transactions }) => sum + transactions, 0)
  const count = manifest.blocks === undefined ? seen : (manifest.tables.transactions?.rows ?? 0)
  return count > 0 ? bytes / count : undefined
}

/** What a run costs in compute units, according to its estimate. Unknown values are undefined. */
export type Cost = {
  meter: Meter
  minUnits: number
  units: number | undefined
  maxUnits: number | undefined
}

/** Undefined if the source counts requests only. */
export function costOf(job: Job, estimate: Estimate): Cost | undefined {
  const { minRequests, internals, requests, maxRequests, atomicRequests = 0 } = estimate
  const meter = meterOf(job)
  if (meter === undefined) return undefined
  const each = meter.costs[mainOperation(job)]
  const otherUnits = internals * (meter.costs.internals - each) + atomicRequests * meter.costs.atomic
  const unitsOf = (count: number) => count * each + otherUnits
  return {
    meter,
    minUnits: unitsOf(minRequests),
    units: requests && unitsOf(requests),
    maxUnits: maxRequests && unitsOf(maxRequests),
  }
}

/**
 * Milliseconds that units take at the quota of a meter; undefined if it is unknown. Each day's budget that is used up
 * takes a day.
 */
export function timeAtQuota(
  units: number,
  { perMinute, perDay }: Pick<Meter, 'perMinute' | 'perDay'>,
): number | undefined {
  if (perMinute === undefined) return undefined
  const days = perDay === undefined ? 0 : Math.floor(Math.max(0, units - 1) / perDay)
  const rest = units - days * (perDay ?? 0)
  return days * DAY_MS + (rest / perMinute) * 60_000
}

/**
 * The requests that the fees of a run can take beside its pages: to probe what the listing shows, and for the
 * details of transactions. Undefined if there are none.
 */
export type FeeRequests = {
  probes: number
  /** Undefined if there is no limit: one for each transaction of type 2 and later that a wallet sent. */
  maxDetails: number | undefined
}

export function feeRequestsOf({ kind, fees, feesBudget, service }: Job): FeeRequests | undefined {
  if (kind === 'blocks' || fees === 'listed' || sourceOf(service.api).readFee === undefined) return undefined
  return fees === 'exact'
    ? { probes: 0, maxDetails: undefined }
    : { probes: MAX_PROBES, maxDetails: feesBudget }
}
