import type { ExportError } from '../../core/model/errors.ts'
import type { Job } from '../../core/model/model.ts'
import type { Figures } from '../../core/model/run-stats.ts'

export type Sample = { labels: Readonly<Record<string, string>>; value: number }
/** A gauge; times and durations are in seconds, and its name ends in its unit. */
export type Metric = { name: string; help: string; samples: readonly Sample[] }

/** How one job of a run ended. */
export type JobOutcome = { job: Job; exit: number; error: ExportError | undefined; figures: Figures }

export type RunOutcome = {
  /** Exit code of the process. */
  exit: number
  /** When the run ended, in milliseconds since 1970. */
  now: number
  /** undefined: the run failed before its jobs were known. */
  jobs: readonly JobOutcome[] | undefined
}

/**
 * A run's figures as gauges. What tells of an export, its last success among it, is kept from the earlier gauges where
 * a job brought none: a job that failed still has its files, and an alert on their age needs when they were made.
 */
export function measureRun(outcome: RunOutcome, earlier: readonly Metric[] = []): Metric[] {
  const { exit, now, jobs } = outcome
  const ofRun = [
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
  const ofJobs = GAUGES.map(({ name, help, read }) => {
    const fresh = (jobs ?? []).flatMap((job) => read(job, now).map((sample) => labelled(job, sample)))
    return { name, help, samples: [...fresh, ...kept({ name, fresh, jobs }, earlier)] }
  })
  return [...ofRun, ...ofJobs].filter(({ samples }) => samples.length > 0)
}

function labelled({ job }: JobOutcome, { labels, value }: Sample): Sample {
  return { labels: { job: job.name, ...labels }, value }
}

type Fresh = { name: string; fresh: readonly Sample[]; jobs: RunOutcome['jobs'] }

function kept({ name, fresh, jobs }: Fresh, earlier: readonly Metric[]): Sample[] {
  if (!KEPT.has(name)) return []
  const known = new Set(fresh.map(({ labels }) => labels.job))
  const wanted = jobs === undefined ? undefined : new Set(jobs.map(({ job }) => job.name))
  const samples = earlier.filter((metric) => metric.name === name).flatMap((metric) => metric.samples)
  return samples.filter(({ labels: { job = '' } }) => !known.has(job) && (wanted?.has(job) ?? true))
}

type Gauge = { name: string; help: string; read: (job: JobOutcome, now: number) => Sample[] }

/** One value of each job, or none where it is not known. */
function gauge(
  name: string,
  help: string,
  read: (job: JobOutcome, now: number) => number | undefined,
): Gauge {
  return {
    name: `walletlake_${name}`,
    help,
    read: (job, now) => {
      const value = read(job, now)
      return value === undefined ? [] : [{ labels: {}, value }]
    },
  }
}

const endedMs = ({ figures }: JobOutcome, now: number) => figures.endedMs ?? now

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
    Math.max(0, (endedMs(job, now) - job.figures.startedMs) / 1000),
  ),
  gauge(
    'last_run_exit_code',
    'Exit code of the job alone: 0 done, 6 records rejected, 9 unfinished.',
    ({ exit }) => exit,
  ),
  gauge('last_run_requests', 'Requests sent by the last run.', ({ figures }) => figures.requests),
  gauge('last_run_refusals', 'Answers with status 429.', ({ figures }) => figures.refusals),
  gauge(
    'last_run_retries',
    'Requests sent again for another reason than 429.',
    ({ figures }) => figures.retries,
  ),
  gauge('last_run_received_bytes', 'Bytes of bodies received, unpacked.', ({ figures }) => figures.bytes),
  gauge('last_run_rejects', 'Records that could not be normalized.', ({ figures }) => figures.rejects),
  gauge('export_end_block', 'One past the highest block in the export.', ({ figures }) => figures.endBlock),
  {
    name: 'walletlake_export_rows',
    help: 'Rows in the export, of all its runs.',
    read: ({ figures }) =>
      Object.entries(figures.totalRows).map(([table, value]) => ({ labels: { table }, value })),
  },
]

/** What stays true of an export when a run of its job fails. */
const KEPT: ReadonlySet<string> = new Set([
  'walletlake_last_success_timestamp_seconds',
  'walletlake_export_end_block',
  'walletlake_export_rows',
])
