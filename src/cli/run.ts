import type { Command } from 'commander'
import { ExportError, toExportError } from '../core/errors.ts'
import { readApiKey } from '../job/read-api-key.ts'
import type { Log } from '../report/log.ts'
import { exitCodeOf, exitOf, summarizeRun } from '../report/run-report.ts'
import { say, sayJson } from '../report/say.ts'
import { summaryText } from '../report/summary.ts'
import { counted, missingWords } from '../report/words.ts'
import { type RunResult, run } from '../run/run.ts'
import { type BoundArguments, boundOptions, readBounds, readCount } from './amounts.ts'
import { addExamples } from './examples.ts'
import type { Finish } from './finish.ts'
import { jobOptions, type Overrides, readJobs } from './jobs.ts'
import { type LogArguments, logOptions, openLog } from './log.ts'
import { type NotifyArguments, notifyOptions, openNotifier } from './notifier.ts'
import { programName } from './program-name.ts'
import { onSignals } from './signals.ts'

type RunArguments = Overrides &
  NotifyArguments &
  BoundArguments &
  LogArguments & { fresh?: boolean; reread?: string; json?: boolean }

export function runCommand(program: Command, finish: Finish): void {
  const command = program
    .command('run')
    .description('export the wallets or blocks of one or more job files')
    .option('--fresh', 'forget checkpoints and start over')
    .option('--reread <n>', 'read the last N blocks of an earlier run again (reorgs, late indexing)')
  boundOptions(jobOptions(command))
  logOptions(notifyOptions(command).option('--json', 'one JSON summary on stdout at the end'))
  addExamples(
    command,
    ['run jobs/demo.yaml', 'export the demo wallets'],
    ["run 'jobs/*.yaml' --max-requests 5000", 'all jobs within a quota'],
  )
  command.action(async (jobs: string[], args: RunArguments) => finish(await runJobs(jobs, args)))
}

async function runJobs(files: readonly string[], args: RunArguments): Promise<number> {
  const live = await startDisplay(args)
  const notifier = openNotifier(args, live.log.warn)
  const stop = onSignals(live.log)
  notifier.begin()
  try {
    const result = await runWith(files, { args, live, signal: stop.signal })
    live.stop()
    const jobs = result.jobs.map((job) => ({ ...job, exit: exitCodeOf(job) }))
    await notifier.end({ exit: exitOf(result), jobs })
    return conclude(result, { args, log: live.log })
  } catch (thrown) {
    live.stop()
    await notifier.end({ exit: toExportError(thrown).failure.exit, jobs: undefined })
    throw thrown
  } finally {
    stop.forget()
  }
}

type Running = { args: RunArguments; live: Live; signal: AbortSignal }

async function runWith(files: readonly string[], { args, live, signal }: Running) {
  const jobs = await readJobs(files, args)
  return run(jobs, {
    apiKey: await readApiKey(process.env),
    fresh: args.fresh ?? false,
    rereadBlocks: readCount('reread', args.reread) ?? 0,
    ...readBounds(args),
    signal,
    onNotice: live.log.info,
    onDetail: live.log.debug,
    onStart: live.start,
  })
}

type Live = {
  log: Log
  start: NonNullable<Parameters<typeof run>[1]>['onStart'] & {}
  stop: () => void
}

const PLAIN_EVERY_MS = 5_000

/** A progress display on a terminal, plain lines elsewhere; log lines stand above the display. */
async function startDisplay(args: RunArguments): Promise<Live> {
  const isShown = process.stderr.isTTY && !args.quiet && args.logFormat !== 'json'
  const progress = isShown ? await import('../report/progress.ts') : undefined
  let display: { stop(): void; clear(): void } | undefined
  let timer: NodeJS.Timeout | undefined
  const write = (line: string) => {
    display?.clear()
    process.stderr.write(`${line}\n`)
  }
  const log = openLog(args, write)
  return {
    log,
    start: (jobs, { pausedMs }) => {
      const watched = jobs.map(({ job, figures }) => ({ name: job.name, figures }))
      display = progress?.showProgress({ jobs: watched, pausedMs, stream: process.stderr })
      if (display === undefined) timer = setInterval(() => log.info(plainProgress(watched)), PLAIN_EVERY_MS)
    },
    stop: () => {
      clearInterval(timer)
      display?.stop()
      display = undefined
    },
  }
}

function plainProgress(
  watched: readonly {
    name: string
    figures: { phase: string; pages: number; share: number; refusals: number }
  }[],
): string {
  return watched
    .filter(({ figures }) => figures.phase !== 'done')
    .map(
      ({ name, figures }) =>
        `${name}: ${figures.phase}, ${Math.floor(figures.share * 100)}%, ${counted(figures.pages, 'page')}, ${figures.refusals} 429s`,
    )
    .join('; ')
}

function conclude(result: RunResult, { args, log }: { args: RunArguments; log: Log }): number {
  const { jobs } = result
  if (args.json) sayJson(summarizeRun(result))
  else if (!args.quiet) say(summaryText(jobs, { now: Date.now(), program: programName() }))
  for (const job of jobs) for (const failure of failuresOf(job)) log.failure(failure)
  return exitOf(result)
}

/** What a job's run ended with; where it failed, what is lacking in its files is not worth a word. */
function failuresOf({ job, error, figures }: RunResult['jobs'][number]): ExportError[] {
  if (error !== undefined)
    return [new ExportError(error.code, `${job.name}: ${error.message}`, { fix: error.fix })]
  const rejects = `${job.name}: ${figures.rejects} of the service's records could not be normalized`
  const missing = `${job.name}: ${missingWords(figures.missing)}`
  return [
    ...(figures.rejects > 0 ? [new ExportError('RECORDS_REJECTED', rejects)] : []),
    ...(figures.missing.length > 0 ? [new ExportError('BLOCKS_MISSING', missing)] : []),
  ]
}
