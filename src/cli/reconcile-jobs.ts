import { type ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { UNKNOWN_NAMES } from '../core/model/unknowns.ts'
import { unitsUsedToday } from '../export/quota.ts'
import type { RunResult } from '../export/run.ts'
import type { RunLimits } from '../http/run-limits.ts'
import { outputName } from '../storage/bucket-url.ts'
import { formatCount } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import { print } from '../terminal/print.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { ReconcileOptions } from '../verify/reconcile/reconcile.ts'
import type { Credentials } from './options/credentials.ts'
import { fetchIfRemote } from './options/output-argument.ts'
import { reconcileRequests } from './plan-lines.ts'
import { programName } from './program-name.ts'
import { reconcileAndStore, verdictError, verdictLines } from './reconcile-output.ts'
import { usageError } from './usage-error.ts'

export type ReconcileRule = Pick<ReconcileOptions, 'accept' | 'onlyChanged'> & {
  /**
   * What counts as an error: every difference, or only those of the native coin (the demo contains tokens that change balances
   * without Transfer events).
   */
  scope: 'all' | 'coin'
}

type ReconcileContext = {
  args: { json?: boolean; quiet?: boolean }
  credentials: Credentials
  rule: ReconcileRule
  /** The limit on requests, and those that the run has sent. */
  limits: Pick<RunLimits, 'maxRequests' | 'usage'>
  log: Log
  signal: AbortSignal
}

const hasLedger = ({ kind, tables }: Job) => kind !== 'blocks' && tables.includes('ledger')

/** Throws USAGE for a job whose export could not be reconciled, before it is run. */
export function requireReconcilable(jobs: readonly Job[]): void {
  const other = jobs.find((job) => !hasLedger(job))
  if (other === undefined) return
  throw usageError(
    `${other.name} exports no ledger, which --reconcile compares`,
    'Run this job without --reconcile, or add ledger to its tables.',
  )
}

/** Reconciles the exports of a run, prints the verdicts, and returns the exit code: 0, or that of the first error. */
export async function reconcileJobs({ jobs }: RunResult, context: ReconcileContext): Promise<number> {
  let exit = 0
  for (const { job, error } of jobs) {
    if (error !== undefined || !hasLedger(job)) continue
    const failure = await reconcileJob(job, context).catch(toExportError)
    if (failure === undefined) continue
    context.log.failure(failure)
    if (exit === 0) exit = failure.failure.exit
  }
  return exit
}

/**
 * Names the exports that no run has reconciled although there is a reason to: the first complete one of a job, and those with
 * more unknowns than before the run.
 */
export async function notReconciledLines({ jobs }: RunResult): Promise<string[]> {
  const lines: string[] = []
  for (const { job, state, stats } of jobs) {
    if (state !== 'complete' || !hasLedger(job) || !hasNewDoubts(stats)) continue
    const requests = await reconcileRequests(job, true)
    const command = `${programName()} reconcile ${shellQuote(outputName(job))}`
    lines.push(
      `not reconciled; \`${command}\` compares with the service (${formatCount(requests, 'request')})`,
    )
  }
  return lines
}

/** Whether a complete export is the first one of its job, or has more unknowns than before the run. */
function hasNewDoubts(stats: RunStats): boolean {
  const { earlier } = stats
  return earlier === undefined || UNKNOWN_NAMES.some((name) => stats[name] > earlier[name])
}

async function reconcileJob(
  job: Job,
  { args, credentials, rule, limits, log, signal }: ReconcileContext,
): Promise<ExportError | undefined> {
  const { output, store, concurrency } = job
  const located = await fetchIfRemote({ output, store, job }, ['ledger', 'transactions'])
  const service = {
    ...job.service,
    ...limits,
    ...credentials,
    concurrency,
    unitsUsedToday: await unitsUsedToday([output]),
    operation: 'balances' as const,
    signal,
    onDetail: log.debug,
    onNotice: log.info,
  }
  const { scope, ...options } = rule
  const result = await reconcileAndStore(located, { service, ...options }, log)
  const { native } = result.balances
  const isGood = result.ok || (scope === 'coin' && native.different === native.accepted)
  const hint = `  (tokens that move without Transfer events; see ${programName()} reconcile ${located.name})`
  const [headline = '', ...details] = verdictLines(result)
  const lines = [`${job.name}: ${headline}`, ...details, ...(isGood && !result.ok ? [hint] : [])]
  if (args.json || args.quiet) for (const line of lines) log.info(line)
  else print(lines)
  return isGood ? undefined : verdictError(result, located.name)
}
