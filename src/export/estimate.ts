import { countBlocks } from '../core/model/block-ranges.ts'
import type { Coverage } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import { PAGE_SIZE } from '../sources/data-api/operations/call.ts'
import type { PastRun } from './history/past-runs.ts'
import type { JobState } from './inspect-job.ts'

/** What a run would cost, as far as it can be known without asking; undefined where it cannot. */
export type Estimate = {
  /** Requests that it takes in any case. */
  least: number
  /** Requests that it most likely takes. */
  requests: number | undefined
  /**
   * Of an unfinished run, requests that it hardly exceeds: blocks that were not read may hold several times as much as those
   * that were. Undefined where `requests` is not drawn from a part of the history.
   */
  most: number | undefined
  /** Requests a second of an earlier run, and how long this one takes at that. */
  perSecond: number | undefined
  seconds: number | undefined
  /** What a transaction takes in the files of the export, and what the new ones take. */
  bytesEach: number | undefined
  bytes: number | undefined
}

/** Estimates a run by what is exported, what is kept of an unfinished run, and what earlier runs took. */
export function estimateRun(job: Job, state: JobState, runs: readonly PastRun[]): Estimate {
  const { least, requests, transactions } =
    job.kind === 'blocks' ? ofBlocks(state) : ofWallets(job, state, runs)
  const timed = runs.find((run) => run.requests > 0 && run.seconds > 0)
  const perSecond = timed && timed.requests / timed.seconds
  const bytesEach = bytesOfTransaction(state)
  return {
    ...{ least, requests, perSecond, bytesEach },
    most: state.state === 'unfinished' && job.kind === 'wallets' ? mostOf(requests) : undefined,
    seconds: perSecond && requests !== undefined ? requests / perSecond : undefined,
    bytes: bytesEach !== undefined && transactions !== undefined ? bytesEach * transactions : undefined,
  }
}

/** How many times as dense the rest of a history may be as the part that was read. */
const DENSER = 4

const mostOf = (requests: number | undefined) => requests && Math.ceil(requests * DENSER)

type Amount = { least: number; requests: number | undefined; transactions: number | undefined }

/** A block is a request, or several where it is large. */
function ofBlocks({ blocks, pages, items }: JobState): Amount {
  const left = countBlocks(blocks)
  return { least: left, requests: left, transactions: pages > 0 ? (items / pages) * left : undefined }
}

function ofWallets(job: Job, state: JobState, runs: readonly PastRun[]): Amount {
  const least = state.wallets.reduce((sum, { remaining }) => sum + remaining.length, 0)
  if (least === 0) return { least, requests: 0, transactions: 0 }
  const amount = state.state === 'unfinished' ? restOf(job, state) : nightOf(state, runs)
  // A fixed end that no page shows takes one more request (findEnd).
  const checksEnd = job.endBlock === undefined || (state.head ?? -1) >= job.endBlock - 1 ? 0 : 1
  const requests = amount && Math.max(least, Math.ceil(amount.requests)) + checksEnd
  return { least, requests, transactions: amount?.transactions }
}

type Known = { requests: number; transactions: number } | undefined

/** What is left up to the end, or up to the highest block seen, takes as much a block as what is kept. */
function restOf(job: Job, { wallets, pages, items, head }: JobState): Known {
  const end = job.endBlock ?? (head === undefined ? undefined : head + 1)
  if (end === undefined) return undefined
  const whole = (end - job.startBlock) * wallets.length
  const left = wallets
    .flatMap(({ remaining }) => remaining)
    .reduce((sum, { from, to = end }) => sum + to - from, 0)
  const share = left / (whole - left)
  return whole > left ? { requests: pages * share, transactions: items * share } : undefined
}

/** A night takes what the last night took; a wallet that is new takes what the others have in all. */
function nightOf({ wallets, manifest }: JobState, runs: readonly PastRun[]): Known {
  if (manifest === undefined) return undefined
  const known = new Map(manifest.coverage.map((covered) => [covered.address, covered]))
  const open = wallets.filter(({ remaining }) => remaining.length > 0)
  const added = open.filter(({ address }) => !known.has(address)).length
  const night = runs.find((run) => run.error === null && isNight(run, manifest.job.startBlock))
  if (night === undefined && added < open.length) return undefined
  const nightly = night === undefined ? 0 : (open.length - added) / Math.max(1, night.wallets)
  const mean = meanOf(manifest.coverage)
  return {
    requests: nightly * (night?.requests ?? 0) + added * Math.ceil((mean + 1) / PAGE_SIZE),
    transactions: nightly * (night?.transactions ?? 0) + added * mean,
  }
}

/** The first run is none: it read what was there before. */
function isNight({ state, fromBlock }: PastRun, startBlock: number): boolean {
  return state === 'unchanged' || (typeof fromBlock === 'number' && fromBlock > startBlock)
}

function meanOf(coverage: readonly Coverage[]): number {
  return coverage.reduce((sum, { transactions }) => sum + transactions, 0) / Math.max(1, coverage.length)
}

/** Bytes of all files by transactions that wallets saw; those that several saw count more than once. */
function bytesOfTransaction({ manifest }: JobState): number | undefined {
  if (manifest === undefined) return undefined
  const files = Object.values(manifest.tables).flatMap((table) => table.files)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const seen = manifest.coverage.reduce((sum, { transactions }) => sum + transactions, 0)
  const count = manifest.blocks === undefined ? seen : (manifest.tables.transactions?.rows ?? 0)
  return count > 0 ? bytes / count : undefined
}
