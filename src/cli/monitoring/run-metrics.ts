import type { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import type { RunStats } from '../../core/model/run-stats.ts'

export type Sample = { labels: Readonly<Record<string, string>>; value: number }
/** A gauge. Its name ends in its unit; times and durations are in seconds. */
export type Metric = { name: string; help: string; samples: readonly Sample[] }

/** How one job of a run ended. */
export type JobOutcome = { job: Job; exit: number; error: ExportError | undefined; stats: RunStats }

export type RunOutcome = {
  /** Exit code of the process. */
  exit: number
  /** When the run ended, in milliseconds since 1970. */
  now: number
  /** Undefined if the run failed before its jobs were read. */
  jobs: readonly JobOutcome[] | undefined
}

/**
 * Converts the outcome of a run to gauges. Gauges that describe an export, including the time of its last success, are
 * retained from `previous` if the run has no new value: a failed job still has its files, and alerts on their age need
 * the time of their creation.
 */
export function runMetrics(outcome: RunOutcome, previous: readonly Metric[] = []): Metric[] {
  const { exit, now, jobs } = outcome
  const runGauges = [
    {
      name: 'walletlake_exit_code',
      help: 'Exit code of the last run.',
      samples: [{ labels: {}, value: exit }],
    },
    {
      name: 'walletlake_ended_timestamp_seconds',
      help: 'When the last run ended.',
      samples: [{ labels: {}, value: now / 1000 }],
    },
  ]
  const jobGauges = GAUGES.map(({ name, help, collect }) => {
    const current = (jobs ?? []).flatMap((job) =>
      collect(job, now).map((sample) => withJobLabel(job, sample)),
    )
    return { name, help, samples: [...current, ...retainedSamples({ name, current, jobs }, previous)] }
  })
  return [...runGauges, ...jobGauges].filter(({ samples }) => samples.length > 0)
}

function withJobLabel({ job }: JobOutcome, { labels, value }: Sample): Sample {
  return { labels: { job: job.name, ...labels }, value }
}

type CurrentSamples = { name: string; current: readonly Sample[]; jobs: RunOutcome['jobs'] }

function retainedSamples({ name, current, jobs }: CurrentSamples, previous: readonly Metric[]): Sample[] {
  if (!RETAINED_METRICS.has(name)) return []
  const currentJobs = new Set(current.map(({ labels }) => labels.job))
  const runJobs = jobs === undefined ? undefined : new Set(jobs.map(({ job }) => job.name))
  const samples = previous.filter((metric) => metric.name === name).flatMap((metric) => metric.samples)
  return samples.filter(({ labels: { job = '' } }) => !currentJobs.has(job) && (runJobs?.has(job) ?? true))
}

type Gauge = { name: string; help: string; collect: (job: JobOutcome, now: number) => Sample[] }

/** Defines a gauge with one sample per job, or none if `collect` returns undefined. */
function gauge(
  name: string,
  help: string,
  collect: (job: JobOutcome, now: number) => number | undefined,
): Gauge {
  return {
    name: `walletlake_${name}`,
    help,
    collect: (job, now) => {
      const value = collect(job, now)
      return value === undefined ? [] : [{ labels: {}, value }]
    },
  }
}

const endedMs = ({ stats }: JobOutcome, now: number) => stats.endedMs ?? now

const GAUGES: readonly Gauge[] = [
  gauge(
    'last_run_timestamp_seconds',
    'When the last run of the job ended.',
    (job, now) => endedMs(job, now) / 1000,
  ),
  gauge('last_success_timestamp_seconds', 'When the last run with exit code 0 ended.', (job, now) =>
    job.exit === 0 ? endedMs(job, now) / 1000 : undefined,
  ),
  gauge('last_run_duration_seconds', 'How long the last run took.', (job, now) =>
    Math.max(0, (endedMs(job, now) - job.stats.startedMs) / 1000),
  ),
  gauge(
    'last_run_exit_code',
    'Exit code of the job alone: 0 complete, 6 incomplete, 9 stopped by a limit.',
    ({ exit }) => exit,
  ),
  gauge('last_run_requests', 'Requests sent by the last run.', ({ stats }) => stats.requests),
  gauge(
    'last_run_compute_units',
    "Cost of the last run's requests in the service's compute units.",
    ({ stats }) => stats.computeUnits,
  ),
  gauge('last_run_rate_limited', 'Responses with status 429.', ({ stats }) => stats.rateLimited),
  gauge('last_run_retries', 'Requests retried for reasons other than 429.', ({ stats }) => stats.retries),
  gauge(
    'last_run_received_bytes',
    'Bytes of response bodies, after decompression.',
    ({ stats }) => stats.bytes,
  ),
  gauge('last_run_rejects', 'Records that could not be normalized.', ({ stats }) => stats.rejects),
  gauge('export_end_block', 'One past the highest block in the export.', ({ stats }) => stats.endBlock),
  {
    name: 'walletlake_export_rows',
    help: 'Rows in the export, of all its runs.',
    collect: ({ stats }) =>
      Object.entries(stats.totalRows).map(([table, value]) => ({ labels: { table }, value })),
  },
]

/** Metrics that remain valid when a run of the job fails. */
const RETAINED_METRICS: ReadonlySet<string> = new Set([
  'walletlake_last_success_timestamp_seconds',
  'walletlake_export_end_block',
  'walletlake_export_rows',
])
