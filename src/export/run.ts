import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { checkCallOptions, OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError, FAILURES, type FailureCode } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { incompleteReason, newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { largest } from '../core/platform/extremes.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import { createRateLimiter, type RateLimiter } from '../http/rate-limit/rate-limiter.ts'
import type { RequestContext } from '../http/request.ts'
import type { RetryOptions } from '../http/retry.ts'
import { type RunLimits, type StartedRunLimits, startRunLimits } from '../http/run-limits.ts'
import { openDemo } from '../sources/data-api/open-demo.ts'
import { outputName } from '../storage/bucket-url.ts'
import { requireJob, SHARED_OPTIONS } from './check-call.ts'
import { exportJob, type JobResult } from './export-job.ts'
import { saveRunReport } from './history/run-report.ts'
import { openRequestContext, requireService } from './open-request-context.ts'

/** How `run` asks, how far it goes and whom it tells. */
export type RunOptions = RunLimits & {
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** Send the key unencrypted where the service is on another machine and its URL http. @default false */
  allowPlainHttp?: boolean | undefined
  /** Forget checkpoints and start over. @default false */
  fresh?: boolean
  /**
   * Re-reads and rewrites this many blocks at the end of the previous export. A number over 32 also widens the zone below the
   * head that is read by closed block ranges, for reorgs while pages are read. 0 re-reads none. @default the last 32 blocks are
   * re-read, and rewritten if they changed
   */
  lookbackBlocks?: number | undefined
  retry?: RetryOptions
  /** One line about something worth knowing, as it happens. */
  onNotice?: (notice: string) => void
  /** One line about each retry and refusal. */
  onDetail?: (detail: string) => void
  /** Called once before the first request with the figures of each job, which then change in place. */
  onStart?: (jobs: readonly JobStats[], rateLimiter: Pick<RateLimiter, 'pausedForMs'>) => void
}

type JobStats = { job: Job; stats: RunStats }
/** What became of each job; `code` is that of the worst failure, undefined where there was none. */
export type RunResult = {
  id: string
  jobs: readonly (JobResult & { stats: RunStats })[]
  code: FailureCode | undefined
}

/** Exports all jobs at once, within one shared concurrency and one shared quota. Throws USAGE before it starts. */
export async function run(jobs: readonly Job[], options: RunOptions = {}): Promise<RunResult> {
  checkCall(jobs, options)
  requireDistinctOutputs(jobs)
  for (const job of jobs) requireService(job, { ...options, apiKey: options.apiKey })
  const id = newRunId()
  const entries = jobs.map((job) => ({ job, stats: newRunStats(job.wallets.length, Date.now()) }))
  const shared = shareLimits(jobs, options)
  const demo = jobs.some(({ service }) => service.baseUrl === 'demo') ? await openDemo() : undefined
  options.onStart?.(entries, shared.rateLimiter)
  try {
    const results = await Promise.all(
      entries.map((entry) => runJob(entry, { shared, options, demoUrl: demo?.url, id })),
    )
    return { id, jobs: results, code: worstCode(results) }
  } finally {
    shared.end()
    await demo?.close()
  }
}

/** Names a run by when it began; what is random in it tells runs of one second apart. */
export function newRunId(): string {
  return `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`
}

const RUN_OPTIONS = {
  ...SHARED_OPTIONS,
  fresh: OPTION.flag,
  lookbackBlocks: OPTION.count,
  maxRequests: OPTION.count,
  deadlineMs: OPTION.duration,
  onNotice: OPTION.listener,
  onStart: OPTION.listener,
} as const satisfies Record<keyof RunOptions, OptionCheck>

function checkCall(jobs: readonly Job[], options: RunOptions): void {
  checkCallOptions('run', options, RUN_OPTIONS)
  if (!Array.isArray(jobs) || jobs.length === 0)
    throw new ExportError('USAGE', 'run was given no list of jobs', { fix: 'Give it as run([job]).' })
  for (const job of jobs) requireJob(job)
}

/** Throws USAGE where two jobs write to one output. */
export function requireDistinctOutputs(jobs: readonly Job[]): void {
  const seen = new Map<string, Job>()
  for (const job of jobs) {
    const output = resolve(job.output)
    const other = seen.get(output)
    if (other !== undefined) {
      throw new ExportError(
        'USAGE',
        `${job.file} and ${other.file} write to the same output ${outputName(job)}`,
        {
          fix: 'Give each job its own name or output.',
        },
      )
    }
    seen.set(output, job)
  }
}

type SharedLimits = StartedRunLimits & { rateLimiter: RateLimiter; limit: RequestContext['limit'] }

function shareLimits(jobs: readonly Job[], options: RunOptions): SharedLimits {
  return {
    ...startRunLimits(options, 'the run was aborted'),
    rateLimiter: createRateLimiter(),
    limit: limitConcurrency(largest(jobs.map(({ concurrency }) => concurrency))),
  }
}

type RunContext = { shared: SharedLimits; options: RunOptions; demoUrl: string | undefined; id: string }

async function runJob({ job, stats }: JobStats, { shared, options, demoUrl, id }: RunContext) {
  const { requestContext, close } = openRequestContext(job, {
    ...shared,
    ...options,
    signal: shared.signal,
    demoUrl,
    stats,
    onDetail: (detail) => options.onDetail?.(`${job.name}: ${detail}`),
  })
  const onNotice = options.onNotice ?? (() => {})
  const result = await exportJob({
    job,
    requestContext,
    stats,
    fresh: options.fresh ?? false,
    lookbackBlocks: options.lookbackBlocks,
    onNotice,
  })
  await close()
  await saveRunReport({ id, ...result, stats }, onNotice)
  return { ...result, stats }
}

/** Of several failures the one with the lowest exit code above 0 speaks; what is lacking only where nothing failed. */
export function worstCode(results: readonly (JobResult & { stats: RunStats })[]): FailureCode | undefined {
  const codes = results.flatMap(({ error }) => (error === undefined ? [] : [error.code]))
  codes.sort((a, b) => FAILURES[a].exit - FAILURES[b].exit)
  return codes[0] ?? results.map(({ stats }) => incompleteReason(stats)).find((code) => code !== undefined)
}
