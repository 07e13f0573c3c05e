import { ExportError, toExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { exitCodeOf, exitOf, summarizeRun } from '../export/history/run-report.ts'
import { type RunResult, run } from '../export/run.ts'
import { putBeside } from '../storage/upload-sidecar.ts'
import { missingWords } from '../terminal/format.ts'
import { clockWords, refusedWords } from '../terminal/incomplete-lines.ts'
import type { Log } from '../terminal/log.ts'
import { say, sayJson } from '../terminal/print.ts'
import { summaryText } from '../terminal/summary.ts'
import { type NotifyArguments, openNotifier } from './monitoring/run-monitor.ts'
import { type KeyArguments, readCredentials } from './options/credentials.ts'
import { type BoundArguments, readBounds, readCount } from './options/option-parsers.ts'
import { readable } from './options/output-argument.ts'
import { readQueueAddress } from './options/queue-address.ts'
import { programName } from './program-name.ts'
import { type Live, openLive } from './progress.ts'
import { onSignals } from './signals.ts'

export type RunArguments = NotifyArguments &
  BoundArguments &
  KeyArguments & { fresh?: boolean; lookback?: string; queue?: string; json?: boolean; report?: boolean }

/** Exports jobs, shows how it goes, tells monitoring, and says at the end what was done. Gives the exit code. */
export async function runJobs(read: () => Promise<Job[]>, args: RunArguments): Promise<number> {
  const live = await openLive(args)
  const notifier = openNotifier(args, live.log.warn)
  const stop = onSignals(live.log)
  notifier.begin()
  try {
    const result = await runWith(await read(), { args, live, signal: stop.signal })
    live.stop()
    const jobs = result.jobs.map((job) => ({ ...job, exit: exitCodeOf(job) }))
    await notifier.end({ exit: exitOf(result), jobs })
    const exit = conclude(result, { args, log: live.log })
    if (args.report) await writeReports(result, { args, log: live.log })
    return exit
  } catch (thrown) {
    live.stop()
    await notifier.end({ exit: toExportError(thrown).failure.exit, jobs: undefined })
    throw thrown
  } finally {
    stop.forget()
  }
}

type Running = { args: RunArguments; live: Live; signal: AbortSignal }

async function runWith(jobs: readonly Job[], running: Running): Promise<RunResult> {
  const { args, live, signal } = running
  if (args.queue !== undefined) return runQueued(jobs, args.queue, running)
  return run(jobs, {
    ...(await readCredentials(args)),
    fresh: args.fresh ?? false,
    ...(args.lookback === undefined
      ? {}
      : { lookbackBlocks: readCount('lookback', args.lookback, { least: 0 }) ?? 0 }),
    ...readBounds(args),
    signal,
    onNotice: live.log.info,
    onDetail: live.log.debug,
    onStart: live.start,
  })
}

/** Has workers do it; what the queue cannot do is refused. */
async function runQueued(
  jobs: readonly Job[],
  queue: string,
  { args, live, signal }: Running,
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
    ...(await readCredentials(args)),
    fresh: args.fresh ?? false,
    deadlineMs: readBounds(args).deadlineMs,
    signal,
    onNotice: live.log.info,
    onStart: (started) => live.start(started, { pausedMs: () => 0 }),
  })
}

function conclude(result: RunResult, { args, log }: { args: RunArguments; log: Log }): number {
  const { jobs } = result
  if (args.json) sayJson(summarizeRun(result))
  else if (!args.quiet) say(summaryText(jobs, { now: Date.now(), program: readerProgram(args) }).split('\n'))
  for (const job of jobs) for (const failure of failuresOf(job)) log.failure(failure)
  return exitOf(result)
}

/** How a person at a terminal would start this program again; undefined in schedules, pipes and with logs for machines. */
const readerProgram = ({ logFormat }: Pick<RunArguments, 'logFormat'>): string | undefined =>
  process.stdout.isTTY && logFormat !== 'json' ? programName() : undefined

/** A page for each job that was exported. */
async function writeReports(
  { jobs }: RunResult,
  { args, log }: { args: RunArguments; log: Log },
): Promise<void> {
  for (const { job, error } of jobs) {
    if (error !== undefined) continue
    const line = `Report: ${await reportOn(job)}`
    if (args.json || args.quiet) log.info(line)
    else say(line)
  }
}

/** Writes the page beside the export; resolves with its name. */
async function reportOn(job: Job): Promise<string> {
  const { report, REPORT_FILE } = await import('../html-report/report.ts')
  if (job.store === undefined) return (await report([job.output])).file
  const fetched = await readable({ output: job.output, store: job.store, job })
  await report([fetched.output])
  await putBeside({ output: fetched.output, store: job.store }, REPORT_FILE)
  return `${fetched.name}/${REPORT_FILE}`
}

/** What a job's run ended with; where it failed, what is lacking in its files is not worth a word. */
function failuresOf({ job, error, figures }: RunResult['jobs'][number]): ExportError[] {
  if (error !== undefined) {
    const [first = '', ...more] = error.lines
    return [new ExportError(error.code, [`${job.name}: ${first}`, ...more], { fix: error.fix })]
  }
  const rejects = `${job.name}: ${figures.rejects} of the service's records could not be normalized`
  const missing = `${job.name}: ${missingWords(figures.missing)}`
  const [behind] = clockWords(figures)
  const refused = `${job.name}: ${refusedWords(figures.refused)}`
  return [
    ...(figures.refused.length > 0 ? [new ExportError('WALLETS_REFUSED', refused)] : []),
    ...(behind === undefined ? [] : [new ExportError('CLOCK_BEHIND', `${job.name}: ${behind}`)]),
    ...(figures.rejects > 0 ? [new ExportError('RECORDS_REJECTED', rejects)] : []),
    ...(figures.missing.length > 0 ? [new ExportError('BLOCKS_MISSING', missing)] : []),
  ]
}
