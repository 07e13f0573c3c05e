import { ExportError, type FailureCode, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { hasEnded, type RunStats } from '../core/model/run-stats.ts'
import { exitCodeOf, exitOf, summarizeRun } from '../export/history/run-report.ts'
import { type RunOptions, type RunResult, run } from '../export/run.ts'
import { LONG_WAIT_MS } from '../http/run-limits.ts'
import { uploadSidecar } from '../storage/open-store.ts'
import { formatCount, formatInteger, gapsMessage, missingBlocksMessage } from '../terminal/format.ts'
import {
  answersDifferMessage,
  clockMessages,
  namedRefusedWalletsMessage,
} from '../terminal/incomplete-lines.ts'
import type { Log } from '../terminal/log.ts'
import { print, printJson } from '../terminal/print.ts'
import { summaryText } from '../terminal/summary.ts'
import type { OptionValues } from './command.ts'
import { type MonitoringArguments, openRunMonitor } from './monitoring/run-monitor.ts'
import { type KeyArguments, readCredentials, readQueueAddress } from './options/credentials.ts'
import { type LogArguments, openLog } from './options/log.ts'
import { fetchIfRemote } from './options/output-argument.ts'
import type { runLimitOptions } from './options/parsers.ts'
import { programName } from './program-name.ts'
import {
  notReconciledLines,
  type ReconcileContext,
  type ReconcileRule,
  reconcileJobs,
  requireReconcilable,
} from './reconcile-jobs.ts'
import { abortOnSignals } from './signals.ts'
import { usageError } from './usage-error.ts'

export type RunArguments = MonitoringArguments &
  KeyArguments &
  OptionValues<typeof runLimitOptions> & {
    fresh?: boolean
    lookback?: { lookbackBlocks?: number; lookbackMs?: number }
    queue?: string
    json?: boolean
    report?: boolean
    /** Whether the summary ends with commands to try. @default on a terminal */
    hasNextSteps?: boolean
    load?: boolean
    /** Reconcile the exports. @default no */
    reconcile?: ReconcileRule | undefined
  }

/** Exports jobs with a progress display, reports to monitoring, and prints a summary. Returns the exit code. */
export async function runJobs(readJobs: () => Promise<Job[]>, args: RunArguments): Promise<number> {
  const progress = await openProgress(args)
  const usage = { requests: 0 }
  const { log } = progress
  const monitor = openRunMonitor(args, log.warn)
  const interruption = abortOnSignals(log)
  monitor.start()
  try {
    const jobsToRun = await readJobs()
    if (args.reconcile !== undefined) requireReconcilable(jobsToRun)
    const load = args.load ? await openLoad() : undefined
    // The key is in the environment only until it is read.
    const credentials = await readCredentials(args)
    const running = { ...progress, args, credentials, usage, signal: interruption.signal }
    const exported = await runDirectOrQueued(jobsToRun, running)
    progress.stop()
    const result = (await load?.(exported, running)) ?? exported
    printSummary(exported, result, args, log)
    const verdictExit = await reconcileOrAdvise(exported, running)
    for (const { job, error } of args.report ? exported.jobs : [])
      if (error === undefined)
        printOrLog([`Report: ${await writeReportFor(job)}`], args.json || args.quiet, log)
    const exit = exitOf(result) || verdictExit
    const jobs = result.jobs.map((job) => ({ ...job, exit: exitCodeOf(job) }))
    await monitor.end({ exit, jobs })
    return exit
  } catch (error) {
    progress.stop()
    await monitor.end({ exit: toExportError(error).failure.exit, jobs: undefined })
    throw error
  } finally {
    interruption.dispose()
  }
}

/** Prepares `--load`. Throws USAGE if no database is named. */
async function openLoad(): Promise<(result: RunResult, running: Running) => Promise<RunResult>> {
  const { loadJobs, readLoadTarget } = await import('./load-jobs.ts')
  const to = readLoadTarget()
  return (result, { log, signal }) => loadJobs(result, { to, log, signal })
}

/** Returns 0, or the exit code of a verdict that is not good. */
async function reconcileOrAdvise(result: RunResult, running: Running): Promise<number> {
  const { args, log } = running
  if (args.reconcile !== undefined) return reconcileJobs(result, running)
  if (!args.quiet) printOrLog(await notReconciledLines(result), args.json, log)
  return 0
}

/** Prints lines, or logs them if stdout is for something else. */
function printOrLog(lines: readonly string[], isLogged: boolean | undefined, log: Log): void {
  if (isLogged) log.info(lines)
  else if (lines.length > 0) print(lines)
}

type Running = ReconcileContext & LiveProgress & { args: RunArguments }

async function runDirectOrQueued(
  jobs: readonly Job[],
  { args, credentials, usage, signal, log, start }: Running,
): Promise<RunResult> {
  const { fresh = false, lookback, queue, maxRequests, deadline: deadlineMs } = args
  const common = { ...credentials, fresh, deadlineMs, signal, onNotice: log.info }
  if (queue === undefined)
    return run(jobs, { ...common, ...lookback, maxRequests, usage, onDetail: log.debug, onStart: start })
  for (const [option, value] of Object.entries({ '--lookback': lookback, '--max-requests': maxRequests }))
    if (value !== undefined)
      throw usageError(
        `${option} cannot be given with --queue`,
        `Leave ${option} out, or run without --queue.`,
      )
  const { runOverQueue } = await import('../cluster/run-over-queue.ts')
  return runOverQueue(jobs, {
    ...common,
    queue: await readQueueAddress(queue),
    onStart: (started) => start(started, { pausedForMs: () => 0 }),
  })
}

/** The summary for people describes the exports. JSON and failures include what was done with them. */
function printSummary(exported: RunResult, result: RunResult, args: RunArguments, log: Log): void {
  // Hints name the program only on a terminal.
  const { hasNextSteps = process.stdout.isTTY && args.logFormat !== 'json' } = args
  const context = { now: Date.now(), programName: hasNextSteps ? programName() : undefined }
  if (args.json) printJson(summarizeRun(result))
  else if (!args.quiet) print(summaryText(exported.jobs, context).split('\n'))
  for (const job of result.jobs) for (const failure of failuresOf(job)) log.failure(failure)
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
    const { hasResponded, lastError } = stats.service
    const cause = error.code === 'BUDGET_REACHED' && !hasResponded && lastError ? `; ${lastError}` : ''
    return [new ExportError(error.code, [`${job.name}: ${first}${cause}`, ...more], { fix: error.fix })]
  }
  const { refused, incomplete, rejects, missing, answersDiffer } = stats
  const [clockBehind] = clockMessages(stats)
  const messages: Partial<Record<FailureCode, string | false | undefined>> = {
    WALLETS_REFUSED: refused.length > 0 && namedRefusedWalletsMessage(refused),
    LISTINGS_INCOMPLETE: incomplete.length > 0 && gapsMessage(incomplete),
    CLOCK_BEHIND: clockBehind,
    RECORDS_REJECTED: rejects > 0 && `${formatCount(rejects, 'record')} could not be normalized`,
    BLOCKS_MISSING: missing.length > 0 && missingBlocksMessage(missing),
    ANSWERS_DIFFER: answersDiffer > 0 && answersDifferMessage(stats),
  }
  return (Object.keys(messages) as FailureCode[]).flatMap((code) =>
    messages[code] ? [new ExportError(code, `${job.name}: ${messages[code]}`)] : [],
  )
}

/** Progress of a run on stderr. */
type LiveProgress = {
  log: Log
  /** Starts to show the progress of the jobs. */
  start: NonNullable<RunOptions['onStart']>
  stop: () => void
}

const PLAIN_PROGRESS_INTERVAL_MS = 5_000

/** Opens a progress display on a terminal with cursor control, or plain lines elsewhere. Log lines appear above it. */
async function openProgress(args: LogArguments): Promise<LiveProgress> {
  const canRedraw = process.stderr.isTTY && process.env.TERM !== 'dumb'
  const isShown = canRedraw && !args.quiet && args.logFormat !== 'json'
  const progressModule = isShown ? await import('../terminal/progress-display.ts') : undefined
  let display: { stop(): void; clear(): void } | undefined
  let timer: NodeJS.Timeout | undefined
  const log = openLog(args, (line) => {
    display?.clear()
    process.stderr.write(`${line}\n`)
  })
  return {
    log,
    start: (jobs, { pausedForMs }) => {
      const shownJobs = jobs.map(({ job, stats }) => ({ name: job.name, stats }))
      display = progressModule?.showProgressDisplay({
        jobs: shownJobs,
        pausedMs: pausedForMs,
        stream: process.stderr,
      })
      if (display !== undefined) return
      timer = setInterval(() => {
        // Long pauses were already logged with their end, and there is no progress until then.
        if (pausedForMs() < LONG_WAIT_MS) log.info(plainProgressLine(shownJobs))
      }, PLAIN_PROGRESS_INTERVAL_MS)
    },
    stop: () => {
      clearInterval(timer)
      display?.stop()
      display = undefined
    },
  }
}

function plainProgressLine(jobs: readonly { name: string; stats: RunStats }[]): string {
  return jobs
    .filter(({ stats }) => !hasEnded(stats))
    .map(({ name, stats }) => `${name}: ${formatPlainProgress(stats)}`)
    .join('; ')
}

function formatPlainProgress({ phase, share, pages, rateLimited, service }: RunStats): string {
  const throttled = rateLimited > 0 ? [`${formatInteger(rateLimited)} 429s`] : []
  const retrying = service.lastError === undefined ? [] : [`retrying: ${service.lastError}`]
  return [phase, `${Math.floor(share * 100)}%`, formatCount(pages, 'page'), ...throttled, ...retrying].join(
    ', ',
  )
}
