import { createLogUpdate } from 'log-update'
import { type Figures, hasEnded } from '../core/model/run-stats.ts'
import { largest } from '../core/platform/extremes.ts'
import { counted, grouped, lasting } from './format.ts'
import { oneLine } from './log.ts'

type Watched = { name: string; figures: Figures }

export type ProgressOptions = {
  jobs: readonly Watched[]
  /** Milliseconds until requests may leave again, 0 where they may. */
  pausedMs: () => number
  stream: NodeJS.WriteStream
}

const REFRESH_MS = 150
/** More jobs than this are summed up in one line. */
const MOST_JOBS = 12

/** Shows a live display of the jobs on a terminal; `stop` leaves its last state standing. */
export function showProgress({ jobs, pausedMs, stream }: ProgressOptions): { stop(): void; clear(): void } {
  const update = createLogUpdate(stream)
  const draw = () =>
    update(progressLines({ jobs, pausedMs: pausedMs(), now: Date.now(), columns: stream.columns }))
  const timer = setInterval(draw, REFRESH_MS)
  draw()
  return {
    clear: () => update.clear(),
    stop: () => {
      clearInterval(timer)
      draw()
      update.done()
    },
  }
}

export type ProgressState = { jobs: readonly Watched[]; pausedMs: number; now: number; columns: number }

/** The display's text: a line a job, none wider than the terminal. */
export function progressLines({ jobs, pausedMs, now, columns = 80 }: ProgressState): string {
  const busy = jobs.filter(({ figures }) => !hasEnded(figures))
  const shown = jobs.length <= MOST_JOBS ? jobs : busy.slice(0, MOST_JOBS)
  const width = Math.min(
    20,
    largest(
      shown.map(({ name }) => name.length),
      4,
    ),
  )
  const lines = shown.flatMap((job) => [jobLine(job, { width, now }), ...troubleLine(job)])
  if (shown.length < jobs.length) lines.push(endedLine(jobs))
  if (pausedMs > 0 && busy.length > 0)
    lines.push(`waiting ${lasting(pausedMs)}: the service asked for a pause (429)`)
  return lines.map((line) => oneLine(line).slice(0, Math.max(20, columns - 1))).join('\n')
}

/** How many jobs have ended, and how. */
function endedLine(jobs: readonly Watched[]): string {
  const count = (phase: Figures['phase']) => jobs.filter(({ figures }) => figures.phase === phase).length
  const others = (['stopped', 'failed'] as const).filter((phase) => count(phase) > 0)
  const words = others.map((phase) => `, ${grouped(count(phase))} ${phase}`)
  return `… ${grouped(count('done'))} of ${counted(jobs.length, 'job')} done${words.join('')}`
}

/** Why a job does not get on, below its line. */
function troubleLine({ figures }: Watched): string[] {
  const { service } = figures
  return hasEnded(figures) || service.trouble === undefined ? [] : [`  asking again: ${service.trouble}`]
}

function jobLine({ name, figures }: Watched, { width, now }: { width: number; now: number }): string {
  const rows = Object.values(figures.rows).reduce((sum, count) => sum + count, 0)
  const label = name.length > width ? `${name.slice(0, width - 1)}…` : name.padEnd(width)
  if (figures.phase === 'waiting') return `${label}  waiting`
  if (figures.phase === 'writing') return `${label}  writing  ${counted(rows, 'row')}`
  const elapsed = Math.max(1, (figures.endedMs ?? now) - figures.startedMs)
  const rate = `${((figures.requests * 1000) / elapsed).toFixed(1)} req/s`
  const refused = figures.refusals > 0 ? [`${grouped(figures.refusals)} 429s`] : []
  const parts = [counted(figures.pages, 'page'), `${grouped(figures.items)} txs`, rate, ...refused]
  if (hasEnded(figures)) {
    const told = [counted(figures.pages, 'page'), counted(rows, 'row'), rate, ...refused]
    return `${label}  ${figures.phase}  ${told.join(', ')}`
  }
  return `${label} ${bar(figures.share)} ${parts.join(' ')}${timeLeft(figures, now)}`
}

function bar(share: number): string {
  const cells = Math.round(share * 10)
  return `${'#'.repeat(cells)}${'.'.repeat(10 - cells)} ${String(Math.floor(share * 100)).padStart(3)}%`
}

function timeLeft({ share, shareAtStart, startedMs }: Figures, now: number): string {
  const done = share - shareAtStart
  if (done <= 0.01 || share >= 1) return ''
  return ` ~${lasting(((now - startedMs) / done) * (1 - share))} left`
}
