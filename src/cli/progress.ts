import { type Figures, hasEnded } from '../core/model/run-stats.ts'
import type { RunOptions } from '../export/run.ts'
import { LONG_WAIT_MS } from '../http/wait-limits.ts'
import { counted, grouped } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import { type LogArguments, openLog } from './options/log.ts'

/** What a run shows on stderr while it goes on. */
export type Live = {
  log: Log
  /** Shows the jobs from now on. */
  start: NonNullable<RunOptions['onStart']>
  stop: () => void
}

const PLAIN_EVERY_MS = 5_000

/** A progress display on a terminal that can move its cursor, plain lines elsewhere; log lines stand above the display. */
export async function openLive(args: LogArguments): Promise<Live> {
  const canRedraw = process.stderr.isTTY && process.env.TERM !== 'dumb'
  const isShown = canRedraw && !args.quiet && args.logFormat !== 'json'
  const progress = isShown ? await import('../terminal/progress-display.ts') : undefined
  let display: { stop(): void; clear(): void } | undefined
  let timer: NodeJS.Timeout | undefined
  const log = openLog(args, (line) => {
    display?.clear()
    process.stderr.write(`${line}\n`)
  })
  return {
    log,
    start: (jobs, { pausedMs }) => {
      const watched = jobs.map(({ job, figures }) => ({ name: job.name, figures }))
      display = progress?.showProgress({ jobs: watched, pausedMs, stream: process.stderr })
      if (display !== undefined) return
      timer = setInterval(() => {
        // A long wait was announced with its end: nothing changes before.
        if (pausedMs() < LONG_WAIT_MS) log.info(plainProgress(watched))
      }, PLAIN_EVERY_MS)
    },
    stop: () => {
      clearInterval(timer)
      display?.stop()
      display = undefined
    },
  }
}

function plainProgress(watched: readonly { name: string; figures: Figures }[]): string {
  return watched
    .filter(({ figures }) => !hasEnded(figures))
    .map(({ name, figures }) => `${name}: ${plainWords(figures)}`)
    .join('; ')
}

function plainWords({ phase, share, pages, refusals, service }: Figures): string {
  const refused = refusals > 0 ? [`${grouped(refusals)} 429s`] : []
  const trouble = service.trouble === undefined ? [] : [`asking again: ${service.trouble}`]
  return [phase, `${Math.floor(share * 100)}%`, counted(pages, 'page'), ...refused, ...trouble].join(', ')
}
