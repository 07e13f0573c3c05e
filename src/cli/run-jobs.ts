import { ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { exitCodeOf, exitOf, summarizeRun } from '../export/history/run-report.ts'
import { type RunResult, run } from '../export/run.ts'
import type { Usage } from '../http/run-limits.ts'
import { uploadSidecar } from '../storage/upload-sidecar.ts'
import { formatCount, gapsMessage, missingBlocksMessage } from '../terminal/format.ts'
import {
  answersDifferMessage,
  clockMessages,
  namedRefusedWalletsMessage,
} from '../terminal/incomplete-lines.ts'
import type { Log } from '../terminal/log.ts'
import { print, printJson } from '../terminal/print.ts'
import { summaryText } from '../terminal/summary.ts'
import { type MonitoringArguments, openRunMonitor } from './monitoring/run-monitor.ts'
import { type Credentials, type KeyArguments, readCredentials } from './options/credentials.ts'
import { type RunLimitArguments, readLookback, readRunLimits } from './options/option-parsers.ts'
import { fetchIfRemote } from './options/output-argument.ts'
import { readQueueAddress } from './options/queue-address.ts'
import { programName } from './program-name.ts'
import { type LiveProgress, openProgress } from './progress.ts'
import {
  notReconciledLines,
  type ReconcileRule,
  reconcileJobs,
  requireReconcilable,
} from './reconcile-jobs.ts'
import { abortOnSignals } from './signals.ts'

export type RunArguments = MonitoringArguments &
  RunLimitArguments &
  KeyArguments & {
    fresh?: boolean
    lookback?: string
    queue?: string
    json?: boolean
    report?: boolean
    load?: boolean
  } & {
    /** Reconcile the exports. @default no */
    reconcile?: ReconcileRule | undefined
  }

/** Exports jobs with a progress display, reports to monitoring, and prints a summary. Returns the exit code. */
export async function runJobs(readJobs: () => Promise<Job[]>, args: RunArguments): Promise<number> {
  const progress = await openProgress(args)
  const usage = { requests: 0 }
  const monitor = openRunMonitor(args, progress.log.warn)
  const interruption = abortOnSignals(progress.log)
  monitor.start()
  try {
    const jobsToRun = await readJobs()
    if (args.reconcile?.scope === 'all') requireReconcilable(jobsToRun)
    const load = args.load ? await openLoad() : undefined
    // The key is in the environment only until it is read.
    const credentials = await readCredentials(args)
    const context = { args, credentials, progress, usage, signal: interruption.signal }
    const exported = await runDirectOrQueued(jobsToRun, context)
    progress.stop()
    const result = (await load?.(exported, context)) ?? exported
    printSummary(exported, result, { args, log: progress.log })
    const verdictExit = await reconcileOrAdvise(exported, context)
    if (args.report) await writeReports(exported, { args, log: progress.log })
    const exit = exitOf(result) || verdictExit
    const jobs = result.jobs.map((job) => ({ ...job, exit: exitCodeOf(job) }))
    await monitor.end({ exit, jobs })
    return exit
  } catch (thrown) {
    progress.stop()
    await monitor.end({ exit: toExportError(thrown).failure.exit, jobs: undefined })
    throw thrown
  } finally {
    interruption.dispose()
  }
}

/** Prepares `--load`. Throws USAGE if no database is named. */
async function openLoad(): Promise<(result: RunResult, context: RunContext) => Promise<RunResult>> {
  const { loadJobs, readLoadTarget } = await import('./load-jobs.ts')
  const to = readLoadTarget()
  return (result, { progress: { log }, signal }) => loadJobs(result, { to, log, signal })
}

/** Returns 0, or the exit code of a verdict that is not good. */
async function reconcileOrAdvise(result: RunResult, context: RunContext): Promise<number> {
  const { args, credentials, progress, usage, signal } = context
  if (args.reconcile === undefined) {
    const lines = args.quiet ? [] : await notReconciledLines(result)
    if (args.json) for (const line of lines) progress.log.info(line)
    else if (lines.length > 0) print(lines)
    return 0
  }
  const limits = { maxRequests: readRunLimits(args).maxRequests, usage }
  return reconcileJobs(result, {
    args,
    credentials,
    rule: args.reconcile,
    limits,
    log: progress.log,
    signal,
  })
}

type RunContext = {
  args: RunArguments
  credentials: Credentials
  progress: LiveProgress
  usage: Usage
  signal: AbortSignal
}

async function runDirectOrQueued(jobs: readonly Job[], running: RunContext): Promise<RunResult> {
  const { args, credentials, progress, usage, signal } = running
  if (args.queue !== undefined) return runQueued(jobs, args.queue, running)
  return run(jobs, {
    ...credentials,
    fresh: args.fresh ?? false,
    ...readLookback(args.lookback),
    ...readRunLimits(args),
    usage,
    signal,
    onNotice: progress.log.info,
    onDetail: progress.log.debug,
    onStart: progress.start,
  })
}

/** Runs the jobs on workers. Throws USAGE for options that are not supported with a queue. */
async function runQueued(
  jobs: readonly Job[],
  queue: string,
  { args, credentials, progress, signal }: RunContext,
): Promise<RunResult> {
  for (const name of ['lookback', 'maxRequests'] as const) {
    if (args[name] === undefined) continue
    const option = name === 'lookback' ? '--lookback' : '--max-requests'
    throw new ExportError('USAGE', `${option} cannot be given with --queue`, {
      fix: `Leave ${option} out, or run without --queue.`,
    })
  }
  const { runOverQueue } = await import('../cluster/run-over-queue.ts')
  return runOverQueue(jobs, {
    queue: await readQueueAddress(queue),
    ...credentials,
    fresh: args.fresh ?? false,
    deadlineMs: readRunLimits(args).deadlineMs,
    signal,
    onNotice: progress.log.info,
    onStart: (started) => progress.start(started, { pausedForMs: () => 0 }),
  })
}

/** The summary for people describes the exports. JSON and failures include what was done with them. */
function printSummary(
  exported: RunResult,
  result: RunResult,
  { args, log }: { args: RunArguments; log: Log },
): void {
  if (args.json) printJson(summarizeRun(result))
  else if (!args.quiet)
    print(
      summaryText(exported.jobs, { now: Date.now(), programName: interactiveProgramName(args) }).split('\n'),
    )
  for (const job of result.jobs) for (const failure of failuresOf(job)) log.failure(failure)
}

/** Returns the program name for hints in the summary; undefined if stdout is not a terminal or the log is JSON. */
const interactiveProgramName = ({ logFormat }: Pick<RunArguments, 'logFormat'>): string | undefined =>
  process.stdout.isTTY && logFormat !== 'json' ? programName() : undefined

/** Writes an HTML report for each job that did not fail. */
async function writeReports(
  { jobs }: RunResult,
  { args, log }: { args: RunArguments; log: Log },
): Promise<void> {
  for (const { job, error } of jobs) {
    if (error !== undefined) continue
    const line = `Report: ${await writeReportFor(job)}`
    if (args.json || args.quiet) log.info(line)
    else print(line)
  }
}

/** Writes the HTML report to the output and returns its location. */
async function writeReportFor(job: Job): Promise<string> {
  const { report, REPORT_FILE } = await import('../html-report/report.ts')
  if (job.store === undefined) return (await report([job.output])).file
  const fetched = await fetchIfRemote({ output: job.output, store: job.store, job })
  await report([fetched.output])
  await uploadSidecar({ output: fetched.output, store: job.store }, REPORT_FILE)
  return `${fetched.name}/${REPORT_FILE}`
}

/** Returns the error of a failed job, or otherwise everything that its export lacks. */
function failuresOf({ job, error, stats }: RunResult['jobs'][number]): ExportError[] {
  if (error !== undefined) {
    const [first = '', ...more] = error.lines
    return [new ExportError(error.code, [`${job.name}: ${first}`, ...more], { fix: error.fix })]
  }
  const rejects = `${job.name}: ${formatCount(stats.rejects, 'record')} could not be normalized`
  const missing = `${job.name}: ${missingBlocksMessage(stats.missing)}`
  const [clockBehind] = clockMessages(stats)
  const refused = `${job.name}: ${namedRefusedWalletsMessage(stats.refused)}`
  return [
    ...(stats.refused.length > 0 ? [new ExportError('WALLETS_REFUSED', refused)] : []),
    ...(stats.incomplete.length > 0
      ? [new ExportError('LISTINGS_INCOMPLETE', `${job.name}: ${gapsMessage(stats.incomplete)}`)]
      : []),
    ...(clockBehind === undefined ? [] : [new ExportError('CLOCK_BEHIND', `${job.name}: ${clockBehind}`)]),
    ...(stats.rejects > 0 ? [new ExportError('RECORDS_REJECTED', rejects)] : []),
    ...(stats.missing.length > 0 ? [new ExportError('BLOCKS_MISSING', missing)] : []),
    ...(stats.answersDiffer > 0
      ? [new ExportError('ANSWERS_DIFFER', `${job.name}: ${answersDifferMessage(stats)}`)]
      : []),
  ]
}
