import { join } from 'node:path'
import { DEFAULT_API } from '../../core/model/api.ts'
import { countBlocks } from '../../core/model/block-ranges.ts'
import { FAILURES, type FailureCode } from '../../core/model/errors.ts'
import { RUNS_FOLDER } from '../../core/model/manifest.ts'
import type { EndedJob, RunReport } from '../../core/model/run-outcome.ts'
import { clockLagOf, incompleteReason, type RunStats } from '../../core/model/run-stats.ts'
import { makeFolder, writeAtomically } from '../../core/platform/disk.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import { assertNotSpecial } from '../../core/platform/special-entries.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { uploadSidecar } from '../../storage/open-store.ts'

/** Failures of runs that the output refused before they began: it belongs to another job, process or program. */
const REFUSALS: ReadonlySet<FailureCode | undefined> = new Set(['OUTPUT_LOCKED', 'OUTPUT_CHANGED', 'USAGE'])

/**
 * Writes the report of a job's run to `runs/<run id>.json` of its output, unless the output refused the run: its reports
 * are those of the export that it holds. A write error does not fail the run; it is passed to `onNotice`, unless the run
 * itself failed with OUTPUT_FAILED.
 */
export async function saveRunReport(
  report: RunReport,
  onNotice?: (message: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { job, error } = report
  if (REFUSALS.has(error?.code)) return
  await writeRunReport(report, signal).catch(() => {
    if (error?.code !== 'OUTPUT_FAILED') onNotice?.(`${job.name}: the run's report could not be written`)
  })
}

async function writeRunReport(report: RunReport, signal: AbortSignal | undefined): Promise<void> {
  const folder = join(report.job.output, RUNS_FOLDER)
  await assertNotSpecial(folder)
  await makeFolder(folder)
  const file = `${report.id}.json`
  await writeAtomically(join(folder, file), `${JSON.stringify(summarizeJob(report), null, 2)}\n`)
  await uploadSidecar(report.job, `${RUNS_FOLDER}/${file}`, signal)
}

/**
 * Returns the outcome of a run with stable field names, for `--json`. Fields may be added but are never
 * removed.
 */
export function summarizeRun({
  id,
  code,
  jobs,
}: {
  id: string
  code: FailureCode | undefined
  jobs: readonly EndedJob[]
}) {
  const startedMs = smallest(jobs.map(({ stats }) => stats.startedMs))
  const endedMs = largest(jobs.map(({ stats }) => endMsOf(stats)))
  return {
    run: id,
    exit: exitOf({ code }),
    code: code ?? null,
    startedAt: new Date(startedMs).toISOString(),
    seconds: Math.max(0, endedMs - startedMs) / 1000,
    jobs: jobs.map((job) => summarizeJob({ id, ...job })),
  }
}

/** Exit code of a run that ended with this failure, if any. */
export function exitOf({ code }: { code: FailureCode | undefined }): number {
  return code === undefined ? 0 : FAILURES[code].exit
}

/** Exit code of a run with only this job. */
export function exitCodeOf({ error, stats }: Pick<EndedJob, 'error' | 'stats'>): number {
  if (error !== undefined) return error.failure.exit
  return exitOf({ code: incompleteReason(stats) })
}

/** Returns the outcome of a job with stable field names, for `--json` and the run report. */
function summarizeJob({ id, job, state, error, stats }: RunReport) {
  const { startedMs, endBlock, completeTo = endBlock } = stats
  return {
    run: id,
    job: job.name,
    output: outputName(job),
    state,
    exit: exitCodeOf({ error, stats }),
    error:
      error === undefined ? null : { code: error.code, exit: error.failure.exit, message: error.message },
    startedAt: new Date(startedMs).toISOString(),
    seconds: Math.max(0, endMsOf(stats) - startedMs) / 1000,
    /** The service, so that `audit` and `reindex` can use the same one. Never includes the key. */
    service: serviceOf(job),
    chain: job.chain,
    startBlock: job.startBlock,
    /** Exclusive; null if the run failed before it was known. */
    endBlock: endBlock ?? null,
    /** False if the job has no endBlock, or one that was not indexed when a wallet was read. */
    final: job.endBlock !== undefined && completeTo !== undefined && completeTo >= job.endBlock,
    wallets: job.wallets.length,
    ...readFields(stats),
    ...writtenFields(stats),
  }
}

/** Counts of what the run read. */
function readFields(stats: RunStats) {
  const { requests, rateLimited, retries, bytes, pages, items, transactions, smallPages } = stats
  const { computeUnits, computeUnitsByDay } = stats
  return {
    /** What the requests cost in the service's compute units, also by UTC day. */
    requests,
    computeUnits,
    computeUnitsByDay,
    rateLimited,
    retries,
    bytes,
    pages,
    items,
    transactions,
    /**
     * Listings (a wallet, or `blocks`) that needed pages of fewer than 100 items, with the smallest page
     * size.
     */
    smallPages: [...smallPages].map(([listing, pageSize]) => ({ listing, pageSize })),
  }
}

/** Counts of what the run wrote, and of what the export lacks. */
function writtenFields(stats: RunStats) {
  const { written, rows, totalRows, changes, files, rejects, missing, emptyWallets } = stats
  const { statusUnknown, feeUnknown, feesUpperBound, contradicted, repeatedLogs, refused, incomplete } = stats
  const { wentBack } = stats
  return {
    /** Blocks that this run wrote (half-open), and the times of their transactions; null if it wrote none. */
    fromBlock: written?.from ?? null,
    toBlock: written?.to ?? null,
    firstTransactionAt: toIsoTime(written?.times?.first),
    lastTransactionAt: toIsoTime(written?.times?.last),
    rows,
    totalRows,
    /** By table, in blocks that earlier runs had exported; empty if none of them were written again. */
    rowsRemoved: changes?.removed ?? {},
    rowsAdded: changes?.added ?? {},
    /** Relative to the output; null if nothing changed. */
    changesFile: changes?.file ?? null,
    files,
    rejects,
    /** In the whole export: transactions with unknown status, and own ones with an unknown or zero fee, or an upper bound. */
    statusUnknown,
    feeUnknown,
    feesUpperBound,
    /**
     * Transactions whose views contradicted each other, and how many still differed after they were read
     * again.
     */
    contradictedTransactions: contradicted.found,
    unresolvedTransactions: contradicted.unresolved,
    /** Why the run went back to an earlier step, with counts; empty if it did not. */
    wentBack,
    /** Logs listed in more than one of the ERC lists. */
    repeatedLogs,
    missingBlocks: countBlocks(missing),
    /** Wallets whose listing the service refused while it served others. */
    refusedWallets: refused.map(({ address, error }) => ({ address, error })),
    /** Wallets with blocks that the service could not list completely, in the whole export. */
    incompleteWallets: incomplete,
    leftOut: excludedFields(stats),
    /** In the whole export: number of wallets without transactions, and the first of them. */
    emptyWallets: emptyWallets ?? { count: 0, addresses: [] },
  }
}

/**
 * Transactions that were read but not exported, because they are too new (`finality`, clock); null if there
 * are none.
 */
function excludedFields(stats: RunStats) {
  const { leftOut } = stats
  if (leftOut === undefined) return null
  const { transactions, newerThanClock, newestMs } = leftOut
  const lagMs = clockLagOf(stats)
  return {
    transactions,
    newerThanClock,
    newestAt: toIsoTime(newestMs),
    /** Minimum number of seconds by which the local clock appears to be behind; null if it does not. */
    clockBehindSeconds: lagMs === undefined ? null : Math.floor(lagMs / 1000),
  }
}

function toIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function endMsOf({ endedMs }: RunStats): number {
  return endedMs ?? Date.now()
}

/** The API is stated only if it is not the default. */
function serviceOf({ service: { baseUrl, apiKeyHeader, api } }: EndedJob['job']) {
  return { baseUrl: baseUrl ?? null, apiKeyHeader, ...(api === DEFAULT_API ? {} : { api }) }
}
