import { createLogUpdate } from 'log-update'
import { hasEnded, type RunStats } from '../core/model/run-stats.ts'
import { largest } from '../core/platform/extremes.ts'
import { formatCount, formatDuration, formatInteger } from './format.ts'
import { oneLine } from './log.ts'

type ProgressJob = { name: string; stats: RunStats }

export type ProgressOptions = {
  jobs: readonly ProgressJob[]
  /** Milliseconds until the rate limiter grants permits again; 0 if it does. */
  pausedMs: () => number
  stream: NodeJS.WriteStream
}

const REFRESH_MS = 150
/** Maximum number of jobs with a line of their own. */
const MAX_SHOWN_JOBS = 12

/** Shows a live display of the jobs on a terminal. `stop` leaves the final state visible. */
export function showProgressDisplay({ jobs, pausedMs, stream }: ProgressOptions): {
  stop(): void
  clear(): void
} {
  const update = createLogUpdate(stream)
  const render = () =>
    update(progressLines({ jobs, pausedMs: pausedMs(), now: Date.now(), columns: stream.columns }))
  const timer = setInterval(render, REFRESH_MS)
  render()
  return {
    clear: () => update.clear(),
    stop: () => {
      clearInterval(timer)
      render()
      update.done()
    },
  }
}

export type ProgressState = { jobs: readonly ProgressJob[]; pausedMs: number; now: number; columns: number }

/** Text of the display: one line per job, none wider than the terminal. */
export function progressLines({ jobs, pausedMs, now, columns = 80 }: ProgressState): string {
  const busy = jobs.filter(({ stats }) => !hasEnded(stats))
  const shown = jobs.length <= MAX_SHOWN_JOBS ? jobs : busy.slice(0, MAX_SHOWN_JOBS)
  const width = Math.min(
    20,
    largest(
      shown.map(({ name }) => name.length),
      4,
    ),
  )
  const lines = shown.flatMap((job) => [jobLine(job, { width, now }), ...retryLine(job)])
  if (shown.length < jobs.length) lines.push(endedLine(jobs))
  if (pausedMs > 0 && busy.length > 0)
    lines.push(`waiting ${formatDuration(pausedMs)}: rate limited by the service (429)`)
  return lines.map((line) => oneLine(line).slice(0, Math.max(20, columns - 1))).join('\n')
}

/** The number of ended jobs, by how they ended. */
function endedLine(jobs: readonly ProgressJob[]): string {
  const count = (phase: RunStats['phase']) => jobs.filter(({ stats }) => stats.phase === phase).length
  const otherPhases = (['stopped', 'failed'] as const).filter((phase) => count(phase) > 0)
  const others = otherPhases.map((phase) => `, ${formatInteger(count(phase))} ${phase}`)
  return `… ${formatInteger(count('done'))} of ${formatCount(jobs.length, 'job')} done${others.join('')}`
}

/** The reason for retries, below the line of the job. */
function retryLine({ stats }: ProgressJob): string[] {
  const { service } = stats
  return hasEnded(stats) || service.lastError === undefined ? [] : [`  retrying: ${service.lastError}`]
}

function jobLine({ name, stats }: ProgressJob, { width, now }: { width: number; now: number }): string {
  const rows = Object.values(stats.rows).reduce((sum, count) => sum + count, 0)
  const paddedName = name.length > width ? `${name.slice(0, width - 1)}…` : name.padEnd(width)
  if (stats.phase === 'waiting') return `${paddedName}  waiting`
  if (stats.phase === 'writing') return `${paddedName}  writing  ${formatCount(rows, 'row')}`
  const elapsed = Math.max(1, (stats.endedMs ?? now) - stats.startedMs)
  const rate = `${((stats.requests * 1000) / elapsed).toFixed(1)} req/s`
  const throttled = stats.rateLimited > 0 ? [`${formatInteger(stats.rateLimited)} 429s`] : []
  const parts = [formatCount(stats.pages, 'page'), `${formatInteger(stats.items)} txs`, rate, ...throttled]
  if (hasEnded(stats)) {
    const summary = [formatCount(stats.pages, 'page'), formatCount(rows, 'row'), rate, ...throttled]
    return `${paddedName}  ${stats.phase}  ${summary.join(', ')}`
  }
  return `${paddedName} ${bar(stats.share)} ${parts.join(' ')}${timeLeft(stats, now)}`
}

function bar(share: number): string {
  const cells = Math.round(share * 10)
  return `${'#'.repeat(cells)}${'.'.repeat(10 - cells)} ${String(Math.floor(share * 100)).padStart(3)}%`
}

function timeLeft({ share, shareAtStart, startedMs }: RunStats, now: number): string {
  const completed = share - shareAtStart
  if (completed <= 0.01 || share >= 1) return ''
  return ` ~${formatDuration(((now - startedMs) / completed) * (1 - share))} left`
}
