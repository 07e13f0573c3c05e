import type { TableName } from '../table/index.ts'
import type { ExportError, FailureCode } from './errors.ts'
import type { Manifest, ManifestGap } from './manifest.ts'
import type { BlockRange } from './model.ts'
import { NO_UNKNOWNS, sumUnknowns, type Unknowns } from './unknowns.ts'
import { utcDay } from './utc.ts'
import { emptyWalletsIn, type WalletSample } from './wallet-sample.ts'

/**
 * Statistics of one job; updated in place, and read by the progress display, the summary and the run report.
 */
export type RunStats = {
  /** `stopped`: ended early by a signal, a deadline or a budget; `failed`: by any other error. */
  phase: 'waiting' | 'reading' | 'writing' | 'done' | 'stopped' | 'failed'
  /**
   * `hasResponded`: the service has returned a valid response in this run. `lastError`: why the latest
   * attempts failed. `aheadMs`: milliseconds by which the service's clock is ahead of this machine's, from
   * the `Date` header of its latest response.
   */
  service: { hasResponded: boolean; lastError: string | undefined; aheadMs?: number | undefined }
  startedMs: number
  /** When the job ended; undefined while it is running. */
  endedMs: number | undefined
  wallets: number
  requests: number
  /** What these requests cost in the service's compute units, in all and by UTC day. */
  computeUnits: number
  computeUnitsByDay: Record<string, number>
  /** Responses with status 429. */
  rateLimited: number
  /** Requests that were retried for any reason other than a 429. */
  retries: number
  /** Bytes of response bodies, decompressed. */
  bytes: number
  pages: number
  /** Items received in this run; a transaction counts once per wallet that sees it. */
  items: number
  /** Share of the requested blocks that are complete, 0 to 1. */
  share: number
  /** `share` when this run began; used to estimate the remaining time. */
  shareAtStart: number
  transactions: number
  /** Exclusive end block of the export; undefined until it is known. */
  endBlock: number | undefined
  /**
   * Exclusive end up to which every wallet is complete that the service did not refuse; undefined until it is known, and
   * in block jobs.
   */
  completeTo: number | undefined
  /** Blocks whose rows this run wrote; undefined if it wrote none. */
  written: WrittenBlocks | undefined
  /** Wallets without transactions in the whole export; undefined until known, and in block jobs. */
  emptyWallets: WalletSample | undefined
  /** Rows that this run wrote; if it left the files unchanged, the rows in them. */
  rows: Partial<Record<TableName, number>>
  /** Rows in the whole export, including those of earlier runs; empty until it is written. */
  totalRows: Partial<Record<TableName, number>>
  files: number
  rejects: number
  /**
   * Transactions of the whole export whose status is unknown (`statusUnknown`), or which a wallet of the job
   * sent and whose fee is unknown or zero (`feeUnknown`) or an upper bound (`feesUpperBound`).
   */
  statusUnknown: number
  feeUnknown: number
  feesUpperBound: number
  /** The same counts of the complete export that the run continues; undefined if there was none. */
  earlier: Unknowns | undefined
  /**
   * Transactions whose views contradict each other (`found`), and those that still did after being read again
   * (`unresolved`).
   */
  contradicted: { found: number; unresolved: number }
  /** How often the run went back to an earlier step, by reason (see src/README.md). */
  wentBack: Record<string, number>
  /** Transactions of earlier runs that one answer lacks and the next one contains: they stay. */
  answersDiffer: number
  /** Event logs that occur in more than one of the ERC lists of a view. */
  repeatedLogs: number
  /** Changes in blocks that earlier runs had exported; undefined if none of these were written again. */
  changes: Changes | undefined
  /** Only in block jobs: blocks that the service does not have. */
  missing: readonly BlockRange[]
  /** Wallets whose listing the service refused while it served others. */
  refused: readonly RefusedWallet[]
  /** Wallets of the whole export with blocks that the service could not list completely; empty until it is written. */
  incomplete: readonly IncompleteWallet[]
  /**
   * Transactions that the run read but did not export because they are newer than the cutoff; undefined if
   * there are none.
   */
  leftOut: LeftOut | undefined
  /**
   * The smallest page size used for each listing that needed one below the default, by wallet address or
   * `blocks`.
   */
  smallPages: Map<string, number>
}

/** A wallet that has no rows of this run, and the error message of the service. */
export type RefusedWallet = { readonly address: string; readonly error: string }

/** A wallet whose listings have gaps. */
export type IncompleteWallet = { readonly address: string; readonly gaps: readonly ManifestGap[] }

/** Transactions that are left to a later run; times in milliseconds since 1970. */
export type LeftOut = {
  readonly transactions: number
  /** Transactions newer than this machine's clock. */
  readonly newerThanClock: number
  readonly newestMs: number
  /** This machine's clock when they were counted. */
  readonly clockMs: number
}

/** A block range, and the times of its first and last transaction. */
type WrittenBlocks = BlockRange & { readonly times: Times | undefined }

/** Milliseconds since 1970, both inclusive. */
export type Times = { readonly first: number; readonly last: number }

/**
 * Rows that a run removed from previously exported blocks, and rows that it added there; a changed row counts
 * as both.
 */
export type Changes = {
  range: BlockRange
  /** By table. */
  removed: Partial<Record<TableName, number>>
  added: Partial<Record<TableName, number>>
  /** File that lists them, relative to the output; undefined if nothing changed. */
  file: string | undefined
}

/** Counts a request that is about to be sent. */
export function countRequest(stats: RunStats, units: number, now: number): void {
  stats.requests += 1
  stats.computeUnits += units
  countUnitsOfDay(stats, units, now)
}

/** Counts compute units in the UTC day of a time. */
export function countUnitsOfDay(stats: RunStats, units: number, now: number): void {
  const day = utcDay(now)
  stats.computeUnitsByDay[day] = (stats.computeUnitsByDay[day] ?? 0) + units
}

export function newRunStats(wallets: number, now: number): RunStats {
  const counts = {
    requests: 0,
    computeUnits: 0,
    rateLimited: 0,
    retries: 0,
    bytes: 0,
    pages: 0,
    items: 0,
    transactions: 0,
    files: 0,
    rejects: 0,
    ...NO_UNKNOWNS,
    repeatedLogs: 0,
    wentBack: {},
    answersDiffer: 0,
  }
  const unknown = {
    endedMs: undefined,
    endBlock: undefined,
    completeTo: undefined,
    written: undefined,
    earlier: undefined,
    emptyWallets: undefined,
    rows: {},
    totalRows: {},
    changes: undefined,
    contradicted: { found: 0, unresolved: 0 },
    missing: [],
    refused: [],
    incomplete: [],
    leftOut: undefined,
    smallPages: new Map<string, number>(),
    computeUnitsByDay: {},
  }
  const service = { hasResponded: false, lastError: undefined }
  return {
    phase: 'waiting',
    service,
    startedMs: now,
    wallets,
    ...counts,
    share: 0,
    shareAtStart: 0,
    ...unknown,
  }
}

/**
 * Records the page size that a listing needed if it is the smallest so far; undefined if its pages had full
 * size.
 */
export function recordSmallPages(
  { smallPages }: RunStats,
  listing: string,
  reducedPageSize: number | undefined,
): void {
  if (
    reducedPageSize !== undefined &&
    reducedPageSize < (smallPages.get(listing) ?? Number.POSITIVE_INFINITY)
  )
    smallPages.set(listing, reducedPageSize)
}

/** Records the totals of the whole export from its manifest. */
export function recordExport(stats: RunStats, manifest: Manifest): void {
  const { job, tables, coverage, rejects } = manifest
  const all = Object.entries(tables)
  stats.totalRows = Object.fromEntries(all.map(([table, { rows }]) => [table, rows]))
  stats.files = all.reduce((sum, [, { files }]) => sum + files.length, 0)
  stats.rejects = rejects
  Object.assign(stats, sumUnknowns([manifest]))
  if (job.kind !== 'blocks') stats.emptyWallets = emptyWalletsIn(coverage)
  stats.incomplete = incompleteWallets(manifest)
}

/** The wallets whose listings have gaps. */
export const incompleteWallets = ({ coverage }: Pick<Manifest, 'coverage'>): IncompleteWallet[] =>
  coverage.flatMap(({ address, gaps = [] }) => (gaps.length === 0 ? [] : [{ address, gaps }]))

/** Records an export whose rows were all written, or left unchanged, by this run. */
export function recordWholeExport(stats: RunStats, manifest: Manifest): void {
  recordExport(stats, manifest)
  stats.rows = stats.totalRows
}

/** Records the end of a job, and the error that ended it, if any. */
export function endRunStats(stats: RunStats, error: ExportError | undefined, now: number): void {
  stats.phase = error === undefined ? 'done' : STOP_CODES.has(error.code) ? 'stopped' : 'failed'
  stats.endedMs = now
}

/** Whether a job has ended, in any way. */
export function hasEnded({ phase }: Pick<RunStats, 'phase'>): boolean {
  return END_PHASES.includes(phase)
}

const END_PHASES: readonly RunStats['phase'][] = ['done', 'stopped', 'failed']
/** Codes of requested stops: signals, deadlines and budgets. */
const STOP_CODES: ReadonlySet<FailureCode> = new Set(['INTERRUPTED', 'TERMINATED', 'BUDGET_REACHED'])

/** Why an export that did not fail is still incomplete; undefined if it is complete. */
export function incompleteReason(stats: RunStats): FailureCode | undefined {
  const { rejects, missing, refused, incomplete } = stats
  if (refused.length > 0) return 'WALLETS_REFUSED'
  if (incomplete.length > 0) return 'LISTINGS_INCOMPLETE'
  if (clockLagOf(stats) !== undefined) return 'CLOCK_BEHIND'
  if (rejects > 0) return 'RECORDS_REJECTED'
  if (missing.length > 0) return 'BLOCKS_MISSING'
  return stats.answersDiffer > 0 ? 'ANSWERS_DIFFER' : undefined
}

/**
 * Milliseconds by which this machine's clock appears to be behind: the larger of the lag behind the newest
 * transaction that was left out and the lag behind the service's clock. Undefined if no such transaction is
 * newer than this machine's clock, or if the lag is within `CLOCK_TOLERANCE_MS`.
 */
export function clockLagOf({ leftOut, service }: Pick<RunStats, 'leftOut' | 'service'>): number | undefined {
  if (leftOut === undefined || leftOut.newerThanClock === 0) return undefined
  const lagMs = Math.max(leftOut.newestMs - leftOut.clockMs, service.aheadMs ?? 0)
  return lagMs > CLOCK_TOLERANCE_MS ? lagMs : undefined
}

/** The current time in milliseconds since 1970: the lower of this machine's clock and the service's. */
export function serviceTime({ service: { aheadMs = 0 } }: Pick<RunStats, 'service'>): number {
  return Date.now() + Math.min(0, aheadMs)
}

/** Ethereum clients accept blocks up to 15 seconds in the future. */
export const CLOCK_TOLERANCE_MS = 15_000
