import { join } from 'node:path'
import { countBlocks } from '../../core/model/block-ranges.ts'
import { FAILURES, type FailureCode } from '../../core/model/errors.ts'
import { RUNS_FOLDER } from '../../core/model/manifest.ts'
import type { EndedJob, RunReport } from '../../core/model/run-outcome.ts'
import { clockLagOf, incompleteReason, type RunStats } from '../../core/model/run-stats.ts'
import { makeFolder, writeAtomically } from '../../core/platform/disk.ts'
import { largest, smallest } from '../../core/platform/extremes.ts'
import { assertNotSpecial } from '../../core/platform/special-entries.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { uploadSidecar } from '../../storage/upload-sidecar.ts'

/**
 * Keeps one run's figures in `runs/<run id>.json` of its output. A run is none the worse where that cannot be written:
 * `onNotice` is told, unless the run itself failed to write.
 */
export async function saveRunReport(report: RunReport, onNotice?: (message: string) => void): Promise<void> {
  const { job, error } = report
  if (error?.code === 'OUTPUT_LOCKED') return
  await writeRunReport(report).catch(() => {
    if (error?.code !== 'OUTPUT_FAILED') onNotice?.(`${job.name}: the run's report could not be written`)
  })
}

async function writeRunReport(report: RunReport): Promise<void> {
  const folder = join(report.job.output, RUNS_FOLDER)
  await assertNotSpecial(folder)
  await makeFolder(folder)
  const file = `${report.id}.json`
  await writeAtomically(join(folder, file), `${JSON.stringify(summarizeJob(report), null, 2)}\n`)
  await uploadSidecar(report.job, `${RUNS_FOLDER}/${file}`)
}

/** A whole run's outcome with stable field names, for `--json`. Its fields only ever grow. */
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

/** Exit code that a run of this job alone would have. */
export function exitCodeOf({ error, stats }: Pick<EndedJob, 'error' | 'stats'>): number {
  if (error !== undefined) return error.failure.exit
  return exitOf({ code: incompleteReason(stats) })
}

/** One job's outcome with stable field names, for `--json` and the run's report. */
function summarizeJob({ id, job, state, error, stats }: RunReport) {
  const { startedMs, endBlock } = stats
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
    /** Where it asked, so that `audit` and `reindex` of the output know; never a key. */
    service: { baseUrl: job.service.baseUrl ?? null, apiKeyHeader: job.service.apiKeyHeader },
    chain: job.chain,
    startBlock: job.startBlock,
    /** Exclusive; null where the run failed before it was known. */
    endBlock: endBlock ?? null,
    /** False where the job has an endBlock that the chain has not reached, or none. */
    final: job.endBlock !== undefined && endBlock !== undefined && endBlock >= job.endBlock,
    wallets: job.wallets.length,
    ...readFields(stats),
    ...writtenFields(stats),
  }
}

/** What the run read. */
function readFields(stats: RunStats) {
  const { requests, refusals, retries, bytes, pages, items, transactions, smallPages } = stats
  return {
    ...{ requests, rateLimited: refusals, retries, bytes, pages, items, transactions },
    /** Listings that needed pages of fewer than 100 items: a wallet, or `blocks`, and the fewest. */
    smallPages: [...smallPages].map(([listing, pageSize]) => ({ listing, pageSize })),
  }
}

/** What the run wrote, and what the export lacks. */
function writtenFields(stats: RunStats) {
  const { written, rows, totalRows, changes, files, rejects, missing, emptyWallets } = stats
  const { statusUnknown, feeUnknown, contradicted, repeatedLogs, refused } = stats
  return {
    /** Blocks that this run wrote, the end exclusive, and the times in them; null where it wrote none. */
    fromBlock: written?.from ?? null,
    toBlock: written?.to ?? null,
    firstTransactionAt: toIsoTime(written?.times?.first),
    lastTransactionAt: toIsoTime(written?.times?.last),
    rows,
    totalRows,
    /** In blocks that earlier runs had exported, by table; empty where none of them were written again. */
    rowsRemoved: changes?.removed ?? {},
    rowsAdded: changes?.added ?? {},
    /** Relative to the output; null where nothing changed. */
    changesFile: changes?.file ?? null,
    files,
    rejects,
    /** Of the whole export: transactions whose status is unknown, and own ones whose fee is unknown or zero. */
    statusUnknown,
    feeUnknown,
    /** Transactions that wallets were shown with different facts, and how many of them still differed once read again. */
    contradictedTransactions: contradicted.found,
    unresolvedTransactions: contradicted.unresolved,
    /** Logs listed in more than one of the ERC lists. */
    repeatedLogs,
    missingBlocks: countBlocks(missing),
    /** Wallets whose listing the service refused while it answered others. */
    refusedWallets: refused.map(({ address, error }) => ({ address, error })),
    leftOut: excludedFields(stats),
    /** Of the whole export: how many wallets showed no transaction, and the first of them. */
    emptyWallets: emptyWallets ?? { count: 0, addresses: [] },
  }
}

/** Transactions that were read and not exported, being younger than `finality` or newer than the clock; null: none. */
function excludedFields(stats: RunStats) {
  const { leftOut } = stats
  if (leftOut === undefined) return null
  const { transactions, newerThanClock, newestMs } = leftOut
  const lagMs = clockLagOf(stats)
  return {
    ...{ transactions, newerThanClock, newestAt: toIsoTime(newestMs) },
    /** Seconds by which this machine's clock appears to be behind at least; null: it does not. */
    clockBehindSeconds: lagMs === undefined ? null : Math.floor(lagMs / 1000),
  }
}

function toIsoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function endMsOf({ endedMs }: RunStats): number {
  return endedMs ?? Date.now()
}
