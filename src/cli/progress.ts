import { hasEnded, type RunStats } from '../core/model/run-stats.ts'
import type { RunOptions } from '../export/run.ts'
import { LONG_WAIT_MS } from '../http/wait-limits.ts'
import { formatCount, formatInteger } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import { type LogArguments, openLog } from './options/log.ts'

/** Progress of a run on stderr. */
export type LiveProgress = {
  log: Log
  /** Starts to show the progress of the jobs. */
  start: NonNullable<RunOptions['onStart']>
  stop: () => void
}

const PLAIN_PROGRESS_INTERVAL_MS = 5_000

/** Opens a progress display on a terminal with cursor control, or plain lines elsewhere. Log lines appear above it. */
export async function openProgress(args: LogArguments): Promise<LiveProgress> {
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
