import type { TableName } from '../table/index.ts'
import type { ExportError, FailureCode } from './errors.ts'
import type { Manifest } from './manifest.ts'
import type { BlockRange } from './model.ts'
import { NO_UNKNOWNS, sumUnknowns } from './unknowns.ts'
import { emptyWalletsIn, type WalletSample } from './wallet-sample.ts'

/** What one job has done so far; updated in place, read by progress, summary and the run's report. */
export type RunStats = {
  /** `stopped`: before its end, by a signal, a deadline or a budget; `failed`: by anything else. */
  phase: 'waiting' | 'reading' | 'writing' | 'done' | 'stopped' | 'failed'
  /**
   * Whether the service ever gave a good answer in this run, why the newest tries failed where they did, and by how much its
   * clock is ahead of this machine's (milliseconds), by the `Date` of its newest answer.
   */
  service: { hasResponded: boolean; lastError: string | undefined; aheadMs?: number | undefined }
  startedMs: number
  /** When the job ended; undefined while it goes on. */
  endedMs: number | undefined
  wallets: number
  requests: number
  /** Answers with 429. */
  refusals: number
  /** Requests asked again for any other reason. */
  retries: number
  /** Bytes of bodies received, unpacked. */
  bytes: number
  pages: number
  /** Items received in this run, views counted each. */
  items: number
  /** Share of the asked blocks that are settled, 0 to 1. */
  share: number
  /** Share when this run began, for the time left. */
  shareAtStart: number
  transactions: number
  /** Exclusive end of the blocks that the export has; undefined before it is known. */
  endBlock: number | undefined
  /** Blocks whose rows this run wrote; undefined where it wrote none. */
  written: WrittenBlocks | undefined
  /** Of the whole export; undefined before it is known, and in jobs of blocks. */
  emptyWallets: WalletSample | undefined
  /** Rows that this run wrote; where it left the files as they were, the rows in them. */
  rows: Partial<Record<TableName, number>>
  /** Rows in the whole export, earlier runs' too; empty before it is written. */
  totalRows: Partial<Record<TableName, number>>
  files: number
  rejects: number
  /** Transactions of the whole export whose status is unknown, and own ones whose fee is unknown or zero. */
  statusUnknown: number
  feeUnknown: number
  /** Transactions whose views told different facts of the chain, and those of them that still did once read again. */
  contradicted: { found: number; unresolved: number }
  /** Logs that views list in more than one of the ERC lists. */
  repeatedLogs: number
  /** What changed in blocks that earlier runs had exported; undefined where none of them were written again. */
  changes: Changes | undefined
  /** Blocks that the service does not have, of a job of blocks. */
  missing: readonly BlockRange[]
  /** Wallets whose listing the service refused while it answered others. */
  refused: readonly RefusedWallet[]
  /** Transactions that the run read and did not export, since they are younger than its cut; undefined: none. */
  leftOut: LeftOut | undefined
  /** The smallest page size of each listing that needed one below the usual, by wallet address or `blocks`. */
  smallPages: Map<string, number>
}

/** A wallet without the rows of this run, and what the service said. */
export type RefusedWallet = { readonly address: string; readonly error: string }

/** Transactions that are left for a later run; times in milliseconds since 1970. */
export type LeftOut = {
  readonly transactions: number
  /** Those newer than this machine's clock. */
  readonly newerThanClock: number
  readonly newestMs: number
  /** The clock of this machine when they were counted. */
  readonly clockMs: number
}

/** Blocks, and when the first and the last of their transactions were made. */
type WrittenBlocks = BlockRange & { readonly times: Times | undefined }

/** Milliseconds since 1970, both of them in it. */
export type Times = { readonly first: number; readonly last: number }

/** Rows that a run removed from blocks exported before, and those that it added there; a row that changed is both. */
export type Changes = {
  range: BlockRange
  /** By table of the job. */
  removed: Partial<Record<TableName, number>>
  added: Partial<Record<TableName, number>>
  /** Where they are listed, relative to the output; undefined where nothing changed. */
  file: string | undefined
}

export function newRunStats(wallets: number, now: number): RunStats {
  const counts = {
    requests: 0,
    refusals: 0,
    retries: 0,
    bytes: 0,
    pages: 0,
    items: 0,
    transactions: 0,
    files: 0,
    rejects: 0,
    ...NO_UNKNOWNS,
    repeatedLogs: 0,
  }
  const unknown = {
    endedMs: undefined,
    endBlock: undefined,
    written: undefined,
    emptyWallets: undefined,
    rows: {},
    totalRows: {},
    changes: undefined,
    contradicted: { found: 0, unresolved: 0 },
    missing: [],
    refused: [],
    leftOut: undefined,
    smallPages: new Map<string, number>(),
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

/** Notes the smallest page size that a listing needed so far. */
export function recordSmallPages({ smallPages }: RunStats, listing: string, size: number): void {
  if (size < DEFAULT_PAGE_SIZE) smallPages.set(listing, size)
}

const DEFAULT_PAGE_SIZE = 100

/** Notes what the whole export holds, as its manifest says. */
export function recordExport(stats: RunStats, manifest: Manifest): void {
  const { job, tables, coverage, rejects } = manifest
  const all = Object.entries(tables)
  stats.totalRows = Object.fromEntries(all.map(([table, { rows }]) => [table, rows]))
  stats.files = all.reduce((sum, [, { files }]) => sum + files.length, 0)
  stats.rejects = rejects
  Object.assign(stats, sumUnknowns([manifest]))
  if (job.kind !== 'blocks') stats.emptyWallets = emptyWalletsIn(coverage)
}

/** The same where all rows of the export are this run's: it wrote them, or left them as they were. */
export function recordWholeExport(stats: RunStats, manifest: Manifest): void {
  recordExport(stats, manifest)
  stats.rows = stats.totalRows
}

/** Notes that a job has ended, and how: with this error, if any. */
export function endRunStats(stats: RunStats, error: ExportError | undefined): void {
  stats.phase = error === undefined ? 'done' : STOP_CODES.has(error.code) ? 'stopped' : 'failed'
  stats.endedMs = Date.now()
}

/** True once nothing more becomes of a job. */
export function hasEnded({ phase }: Pick<RunStats, 'phase'>): boolean {
  return END_PHASES.includes(phase)
}

const END_PHASES: readonly RunStats['phase'][] = ['done', 'stopped', 'failed']
/** Ends that somebody wanted. */
const STOP_CODES: ReadonlySet<FailureCode> = new Set(['INTERRUPTED', 'TERMINATED', 'BUDGET_REACHED'])

/** What is lacking in an export that did not fail. */
export function incompleteReason(stats: RunStats): FailureCode | undefined {
  const { rejects, missing, refused } = stats
  if (refused.length > 0) return 'WALLETS_REFUSED'
  if (clockLagOf(stats) !== undefined) return 'CLOCK_BEHIND'
  if (rejects > 0) return 'RECORDS_REJECTED'
  return missing.length > 0 ? 'BLOCKS_MISSING' : undefined
}

/**
 * Milliseconds by which this machine's clock appears to be behind: by the time of the newest transaction that was left out, or
 * by the service's clock, whichever is more. Undefined where nothing newer than the clock was left out, or where it is newer
 * by no more than block producers' clocks may differ.
 */
export function clockLagOf({ leftOut, service }: Pick<RunStats, 'leftOut' | 'service'>): number | undefined {
  if (leftOut === undefined || leftOut.newerThanClock === 0) return undefined
  const lagMs = Math.max(leftOut.newestMs - leftOut.clockMs, service.aheadMs ?? 0)
  return lagMs > CLOCK_TOLERANCE_MS ? lagMs : undefined
}

/** Clients of Ethereum accept blocks of up to 15 seconds in the future. */
export const CLOCK_TOLERANCE_MS = 15_000
