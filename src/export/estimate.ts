import { countBlocks } from '../core/model/block-ranges.ts'
import type { Coverage } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { PAGE_SIZE } from '../sources/data-api/operations/call.ts'
import type { PastRun } from './history/past-runs.ts'
import type { JobState } from './inspect-job.ts'

/** What a run would cost, as far as it can be known without asking; undefined where it cannot. */
export type Estimate = {
  /** Requests that it takes in any case. */
  minRequests: number
  /** Requests that it most likely takes. */
  requests: number | undefined
  /**
   * Of an unfinished run, requests that it hardly exceeds: blocks that were not read may hold several times as much as those
   * that were. Undefined where `requests` is not drawn from a part of the history.
   */
  maxRequests: number | undefined
  /** Requests a second of an earlier run, and how long this one takes at that. */
  perSecond: number | undefined
  seconds: number | undefined
  /** What a transaction takes in the files of the export, and what the new ones take. */
  bytesPerTransaction: number | undefined
  bytes: number | undefined
}

/** Estimates a run by what is exported, what is kept of an unfinished run, and what earlier runs took. */
export function estimateRun(job: Job, state: JobState, runs: readonly PastRun[]): Estimate {
  const { minRequests, requests, transactions } =
    job.kind === 'blocks' ? estimateBlocks(state) : estimateWallets(job, state, runs)
  const timed = runs.find((run) => run.requests > 0 && run.seconds > 0)
  const perSecond = timed && timed.requests / timed.seconds
  const bytesPerTransaction = averageTransactionBytes(state)
  return {
    ...{ minRequests, requests, perSecond, bytesPerTransaction },
    maxRequests: state.state === 'unfinished' && job.kind === 'wallets' ? upperBound(requests) : undefined,
    seconds: perSecond && requests !== undefined ? requests / perSecond : undefined,
    bytes:
      bytesPerTransaction !== undefined && transactions !== undefined
        ? bytesPerTransaction * transactions
        : undefined,
  }
}

/** How many times as dense the rest of a history may be as the part that was read. */
const MAX_DENSITY_RATIO = 4

const upperBound = (requests: number | undefined) => requests && Math.ceil(requests * MAX_DENSITY_RATIO)

type RequestEstimate = { minRequests: number; requests: number | undefined; transactions: number | undefined }

/** A block is a request, or several where it is large. */
function estimateBlocks({ blocks, pages, items }: JobState): RequestEstimate {
  const remainingBlocks = countBlocks(blocks)
  return {
    minRequests: remainingBlocks,
    requests: remainingBlocks,
    transactions: pages > 0 ? (items / pages) * remainingBlocks : undefined,
  }
}

function estimateWallets(job: Job, state: JobState, runs: readonly PastRun[]): RequestEstimate {
  const minRequests = state.wallets.reduce((sum, { remaining }) => sum + remaining.length, 0)
  if (minRequests === 0) return { minRequests, requests: 0, transactions: 0 }
  const amount = state.state === 'unfinished' ? remainingUsage(job, state) : incrementalUsage(state, runs)
  // A fixed end that no page shows takes one more request (findEnd).
  const checksEnd = job.endBlock === undefined || (state.head ?? -1) >= job.endBlock - 1 ? 0 : 1
  const requests = amount && Math.max(minRequests, Math.ceil(amount.requests)) + checksEnd
  return { minRequests, requests, transactions: amount?.transactions }
}

type Usage = { requests: number; transactions: number } | undefined

/** What is left up to the end, or up to the highest block seen, takes as much a block as what is kept. */
function remainingUsage(job: Job, { wallets, pages, items, head }: JobState): Usage {
  const end = job.endBlock ?? (head === undefined ? undefined : head + 1)
  if (end === undefined) return undefined
  const totalBlocks = (end - job.startBlock) * wallets.length
  const remainingBlocks = wallets
    .flatMap(({ remaining }) => remaining)
    .reduce((sum, { from, to = end }) => sum + to - from, 0)
  const share = remainingBlocks / (totalBlocks - remainingBlocks)
  return totalBlocks > remainingBlocks ? { requests: pages * share, transactions: items * share } : undefined
}

/** A night takes what the last night took; a wallet that is new takes what the others have in all. */
function incrementalUsage({ wallets, manifest }: JobState, runs: readonly PastRun[]): Usage {
  if (manifest === undefined) return undefined
  const exported = new Map(manifest.coverage.map((covered) => [covered.address, covered]))
  const open = wallets.filter(({ remaining }) => remaining.length > 0)
  const added = open.filter(({ address }) => !exported.has(address)).length
  const lastIncremental = runs.find(
    (run) => run.error === null && isIncremental(run, manifest.job.startBlock),
  )
  if (lastIncremental === undefined && added < open.length) return undefined
  const share =
    lastIncremental === undefined ? 0 : (open.length - added) / Math.max(1, lastIncremental.wallets)
  const transactionsPerWallet = meanTransactions(manifest.coverage)
  return {
    requests:
      share * (lastIncremental?.requests ?? 0) + added * Math.ceil((transactionsPerWallet + 1) / PAGE_SIZE),
    transactions: share * (lastIncremental?.transactions ?? 0) + added * transactionsPerWallet,
  }
}

/** The first run is none: it read what was there before. */
function isIncremental({ state, fromBlock }: PastRun, startBlock: number): boolean {
  return state === 'unchanged' || (typeof fromBlock === 'number' && fromBlock > startBlock)
}

function meanTransactions(coverage: readonly Coverage[]): number {
  return coverage.reduce((sum, { transactions }) => sum + transactions, 0) / Math.max(1, coverage.length)
}

/** Bytes of all files by transactions that wallets saw; those that several saw count more than once. */
function averageTransactionBytes({ manifest }: JobState): number | undefined {
  if (manifest === undefined) return undefined
  const files = Object.values(manifest.tables).flatMap((table) => table.files)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const seen = manifest.coverage.reduce((sum, { transactions }) => sum + transactions, 0)
  const count = manifest.blocks === undefined ? seen : (manifest.tables.transactions?.rows ?? 0)
  return count > 0 ? bytes / count : undefined
}
