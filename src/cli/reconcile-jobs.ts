import { ExportError, toExportError } from '../core/model/errors.ts'
import { RECONCILIATION_FILE } from '../core/model/manifest.ts'
import type { Job } from '../core/model/model.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { UNKNOWN_NAMES } from '../core/model/unknowns.ts'
import { unitsUsedToday } from '../export/open-request-context.ts'
import type { RunResult } from '../export/run.ts'
import type { Usage } from '../http/run-limits.ts'
import { outputName } from '../storage/bucket-url.ts'
import { uploadSidecar } from '../storage/open-store.ts'
import { formatCount, formatInteger, presentLines } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import { print } from '../terminal/print.ts'
import {
  acceptedAndUnchangedLines,
  reconciliationHeadline,
  selectionLine,
  tokenDifferencesLine,
} from '../terminal/reconciliation-lines.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import type { Skip } from '../verify/reconcile/compare-wallet.ts'
import { notComparedError } from '../verify/reconcile/not-compared.ts'
import {
  type ReconcileOptions,
  type ReconcileResult,
  reconcileOutput,
} from '../verify/reconcile/reconcile.ts'
import { storeVerdict } from '../verify/reconcile/store-verdict.ts'
import { option } from './command.ts'
import type { Credentials } from './options/credentials.ts'
import { throttledProgress } from './options/log.ts'
import { fetchIfRemote, type LocatedOutput } from './options/output-argument.ts'
import { reconcileRequests } from './plan-lines.ts'
import { programName } from './program-name.ts'
import { usageError } from './usage-error.ts'

export type ReconcileRule = Pick<ReconcileOptions, 'accept' | 'onlyChanged'>

export type ReconcileContext = {
  args: { json?: boolean; quiet?: boolean; maxRequests?: number; reconcile?: ReconcileRule | undefined }
  credentials: Credentials
  /** The requests that the run has sent. */
  usage: Usage
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
  { args, credentials, usage, log, signal }: ReconcileContext,
): Promise<ExportError | undefined> {
  const { output, store, concurrency } = job
  const located = await fetchIfRemote({ output, store, job }, ['ledger', 'transactions'])
  const service = {
    ...job.service,
    maxRequests: args.maxRequests,
    usage,
    ...credentials,
    concurrency,
    unitsUsedToday: await unitsUsedToday([output]),
    operation: 'balances' as const,
    signal,
    onDetail: log.debug,
    onNotice: log.info,
  }
  const result = await reconcileAndStore(located, { service, ...args.reconcile }, log)
  const [headline = '', ...details] = verdictLines(result)
  const lines = [`${job.name}: ${headline}`, ...details]
  if (args.json || args.quiet) log.info(lines)
  else print(lines)
  return result.ok ? undefined : verdictError(result, located.name)
}

/** The option `--accept` of all commands that reconcile. */
export const acceptOption = option(
  'accept <file>',
  'CSV file of differences that are no error, as `reconcile --format csv` writes it: of tokens with any amount, of the native coin with the same one',
)

/** Reconciles an output, logs the expected number of requests first, and stores the verdict next to the export. */
export async function reconcileAndStore(
  { output, store, name }: Omit<LocatedOutput, 'job'>,
  options: Omit<ReconcileOptions, 'onStart' | 'onProgress' | 'onRebaseStart'>,
  log: Log,
): Promise<ReconcileResult> {
  const result = await reconcileOutput(output, {
    ...options,
    onStart: ({ wallets, requests, lastBlock }) =>
      log.info(
        `comparing ${formatCount(wallets, 'wallet')} at block ${formatInteger(lastBlock)}: at least ${formatCount(requests, 'request')}`,
      ),
    onRebaseStart: (requests) =>
      log.info(`dividing what rebasing tokens grew by: ${formatCount(requests, 'request')}`),
    onProgress: throttledProgress(log),
  })
  try {
    await storeVerdict(output, result)
    await uploadSidecar({ output, store }, RECONCILIATION_FILE)
  } catch (error) {
    // The verdict itself stands, also for an export that this user may only read.
    if (!(error instanceof ExportError)) throw error
    log.warn(`the verdict is not stored in ${name}: ${error.message}`)
  }
  return result
}

/** The verdict as lines of at most 80 columns: the headline, and what was not compared. */
export function verdictLines(result: ReconcileResult): string[] {
  const { genesisWallets, skipped, requests } = result
  const details = presentLines(
    tokenDifferencesLine(result),
    selectionLine(result),
    acceptedAndUnchangedLines(result),
    genesisWallets > 0 &&
      `${formatCount(genesisWallets, 'wallet')} held coins at genesis: taken as opening balances`,
    skipped.map(
      ({ kind, why, wallets: count }) =>
        `${kind} of ${formatCount(count, 'wallet')} not compared: ${SKIP_REASONS[why]}`,
    ),
  )
  return [
    `${reconciliationHeadline(result)} (${formatCount(requests, 'request')})`,
    ...details.map((line) => `  ${line}`),
  ]
}

const SKIP_REASONS: Readonly<Record<Skip, string>> = {
  'not-offered': 'the service lacks or refuses them',
  'later-transactions': 'they may have changed since',
  'no-opening': 'the export begins after block 0',
}

/** Where the user finds the likely causes of differences. */
const CAUSES_FIX =
  'Check the likely causes that `walletlake reconcile` lists; `walletlake verify` checks the files themselves.'

/**
 * The error of a verdict that is not good: VERIFY_FAILED for differences, BALANCES_UNAVAILABLE for unknown balances. `fix` says
 * what to do about differences.
 */
export function verdictError(
  { ok, balances, wallets, skipped }: ReconcileResult,
  name: string,
  fix = CAUSES_FIX,
): ExportError | undefined {
  if (!ok) {
    const different = Object.values(balances).reduce((sum, kind) => sum + kind.different - kind.accepted, 0)
    const message = `${name}: ${formatCount(different, 'balance')} not as the service reports`
    return new ExportError('VERIFY_FAILED', message, { fix })
  }
  const unknown = wallets.selected - wallets.compared
  if (unknown === 0) return undefined
  return notComparedError(`${name}: ${formatCount(unknown, 'wallet')} not compared`, skipped)
}
