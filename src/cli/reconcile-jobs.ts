import { ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { unitsUsedToday } from '../export/quota.ts'
import type { RunResult } from '../export/run.ts'
import type { RunLimits } from '../http/run-limits.ts'
import type { Log } from '../terminal/log.ts'
import { print } from '../terminal/print.ts'
import type { Credentials } from './options/credentials.ts'
import { fetchIfRemote } from './options/output-argument.ts'
import { programName } from './program-name.ts'
import { reconcileAndStore, verdictError, verdictLines } from './reconcile-output.ts'

/**
 * What counts as an error: every difference, or only those of the native coin (the demo contains tokens that change balances
 * without Transfer events).
 */
export type ReconcileScope = 'all' | 'coin'

type ReconcileContext = {
  args: { json?: boolean; quiet?: boolean }
  credentials: Credentials
  scope: ReconcileScope
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
  throw new ExportError('USAGE', `${other.name} exports no ledger, which --reconcile compares`, {
    fix: 'Run this job without --reconcile, or add ledger to its tables.',
  })
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

async function reconcileJob(
  job: Job,
  { args, credentials, scope, limits, log, signal }: ReconcileContext,
): Promise<ExportError | undefined> {
  const { output, store, service, concurrency } = job
  const located = await fetchIfRemote({ output, store, job }, ['ledger', 'transactions'])
  const used = await unitsUsedToday([output])
  const access = {
    ...{ ...service, ...limits, concurrency, unitsUsedToday: used, operation: 'balances' as const },
    ...credentials,
  }
  const result = await reconcileAndStore(located, { access, signal }, log)
  const isGood = result.ok || (scope === 'coin' && result.balances.native.different === 0)
  const hint = `  (tokens that move without Transfer events; see ${programName()} reconcile ${located.name})`
  const [headline = '', ...details] = verdictLines(result)
  const lines = [`${job.name}: ${headline}`, ...details, ...(isGood && !result.ok ? [hint] : [])]
  if (args.json || args.quiet) for (const line of lines) log.info(line)
  else print(lines)
  return isGood ? undefined : verdictError(result, located.name)
}
