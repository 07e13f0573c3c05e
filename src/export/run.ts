import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Api } from '../core/model/api.ts'
import { checkCallOptions, OPTION, type OptionCheck } from '../core/model/call-options.ts'
import { ExportError, FAILURES, type FailureCode } from '../core/model/errors.ts'
import type { Lookback } from '../core/model/lookback.ts'
import type { Job } from '../core/model/model.ts'
import { incompleteReason, newRunStats, type RunStats } from '../core/model/run-stats.ts'
import { largest } from '../core/platform/extremes.ts'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { RetryOptions } from '../core/platform/retry.ts'
import type { ListeningService } from '../demo-server/listen.ts'
import { openDemo } from '../demo-server/open-demo.ts'
import { createRateLimiter, type RateLimiter, systemClock } from '../http/rate-limit/rate-limiter.ts'
import type { RequestContext } from '../http/request.ts'
import {
  type DailyBudget,
  type RunLimits,
  type StartedRunLimits,
  startRunLimits,
} from '../http/run-limits.ts'
import { outputName } from '../storage/bucket-url.ts'
import { requireJob, SHARED_OPTIONS } from './check-job.ts'
import type { JobResult } from './export-job.ts'
import { saveRunReport } from './history/run-report.ts'
import { exportJob } from './local-export.ts'
import {
  knownRateOf,
  mainOperation,
  meterOf,
  openBudgetsOf,
  openRequestContext,
  requireService,
} from './open-request-context.ts'

/** Options of `run`. */
export type RunOptions = RunLimits & {
  /** API key. It is never stored. @default none */
  apiKey?: string | undefined
  /** Allow sending the key over unencrypted HTTP to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Delete checkpoints and start over. @default false */
  fresh?: boolean
  /**
   * Number of blocks at the end of the previous export that are read and written again. A number above
   * 32 also widens the zone below the head that is read by closed block ranges, in case a reorg
   * happens while pages are read. 0 disables the lookback.
   *
   * @default the last 32 blocks and ten minutes are read again, and written again if they changed
   */
  lookbackBlocks?: number | undefined
  /** The same as a time in milliseconds: all blocks of this time before the end of the previous export. */
  lookbackMs?: number | undefined
  /** Number of retries and backoff. */
  retry?: RetryOptions
  /** Called with one line per notable event. */
  onNotice?: (notice: string) => void
  /** Called with one line per retry and per 429. */
  onDetail?: (detail: string) => void
  /**
   * Called once before the first request, with the counts of each job, which are updated in place during the
   * run.
   */
  onStart?: (jobs: readonly JobStats[], rateLimiter: Pick<RateLimiter, 'pausedForMs'>) => void
  /** Called every second while jobs run, and once at the end. */
  onProgress?: (jobs: readonly JobProgress[]) => void
}

/** How far a job has come. */
export type JobProgress = Pick<RunStats, 'phase' | 'share' | 'requests' | 'pages' | 'transactions'> & {
  /** Name of the job. */
  name: string
}

const PROGRESS_INTERVAL_MS = 1_000

type JobStats = { job: Job; stats: RunStats }
/** The outcome of a run. */
export type RunResult = {
  /** Run id, which is also the name of the run reports. */
  id: string
  jobs: readonly (JobResult & { stats: RunStats })[]
  /** Code of the worst failure; undefined if all jobs are complete. */
  code: FailureCode | undefined
}

/**
 * Exports all jobs concurrently with a shared rate limiter, concurrency limit and request budget. Failures of
 * single jobs do not reject the promise; they are part of the result.
 *
 * @param jobs from `defineJob` or `readJob`, each with its own output
 * @returns one result per job, in the order of `jobs`, and the code of the worst failure
 * @throws ExportError USAGE before the first request if an argument is invalid
 * @example
 * const { code } = await run([job], { apiKey: process.env.WALLETLAKE_API_KEY })
 */
export async function run(jobs: readonly Job[], options: RunOptions = {}): Promise<RunResult> {
  checkCall(jobs, options)
  requireDistinctOutputs(jobs)
  for (const job of jobs) requireService(job, { ...options, apiKey: options.apiKey })
  const id = newRunId()
  const entries = jobs.map((job) => ({ job, stats: newRunStats(job.wallets.length, Date.now()) }))
  const shared = await shareLimits(jobs, options)
  const demos = await openDemos(jobs)
  options.onStart?.(entries, shared.rateLimiter)
  const reportProgress = () => options.onProgress?.(entries.map(progressOf))
  const timer = setInterval(reportProgress, PROGRESS_INTERVAL_MS)
  try {
    const results = await Promise.all(
      entries.map((entry) =>
        runJob(entry, { shared, options, demoUrl: demos.get(entry.job.service.api)?.url, id }),
      ),
    )
    return { id, jobs: results, code: worstCode(results) }
  } finally {
    clearInterval(timer)
    reportProgress()
    shared.end()
    await Promise.all([...demos.values()].map((demo) => demo.close()))
  }
}

function progressOf({ job: { name }, stats }: JobStats): JobProgress {
  const { phase, share, requests, pages, transactions } = stats
  return { name, phase, share, requests, pages, transactions }
}

/** Starts the embedded service once for each API that a job reads it by. */
async function openDemos(jobs: readonly Job[]): Promise<Map<Api, ListeningService>> {
  const apis = new Set(jobs.flatMap(({ service: { baseUrl, api } }) => (baseUrl === 'demo' ? [api] : [])))
  const opened = [...apis].map(async (api) => [api, await openDemo(api)] as const)
  return new Map(await Promise.all(opened))
}

/**
 * Returns a run id: the start time in seconds, and a random suffix for runs that start in the same second.
 */
export function newRunId(): string {
  return `${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`
}

const RUN_OPTIONS = {
  ...SHARED_OPTIONS,
  fresh: OPTION.flag,
  lookbackBlocks: OPTION.count,
  lookbackMs: OPTION.duration,
  maxRequests: OPTION.count,
  usage: OPTION.object,
  deadlineMs: OPTION.duration,
  onNotice: OPTION.listener,
  onStart: OPTION.listener,
  onProgress: OPTION.listener,
} as const satisfies Record<keyof RunOptions, OptionCheck>

function checkCall(jobs: readonly Job[], options: RunOptions): void {
  checkCallOptions('run', options, RUN_OPTIONS)
  if (!Array.isArray(jobs) || jobs.length === 0)
    throw new ExportError('USAGE', 'run needs a list of at least one job', { fix: 'Call it as run([job]).' })
  for (const job of jobs) requireJob(job)
}

/** Throws USAGE if two jobs write to the same output. */
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

type SharedLimits = StartedRunLimits & {
  rateLimiter: RateLimiter
  limit: RequestContext['limit']
  /** The daily budget of a job's service. */
  budgetOf: (job: Job) => DailyBudget
}

async function shareLimits(jobs: readonly Job[], options: RunOptions): Promise<SharedLimits> {
  const budgetOf = await openBudgetsOf(jobs)
  return {
    ...startRunLimits(options, 'the run was aborted'),
    budgetOf,
    rateLimiter: createRateLimiter(systemClock, knownRateOf(jobs)),
    limit: limitConcurrency(largest(jobs.map(({ concurrency }) => concurrency))),
  }
}

type RunContext = { shared: SharedLimits; options: RunOptions; demoUrl: string | undefined; id: string }

async function runJob({ job, stats }: JobStats, { shared, options, demoUrl, id }: RunContext) {
  const budget = shared.budgetOf(job)
  const unitsEach = meterOf(job)?.costs[mainOperation(job)] ?? 0
  const { requestContext, close } = openRequestContext(job, {
    ...shared,
    ...options,
    signal: shared.signal,
    countRequest: (units) => {
      budget.count(units)
      shared.countRequest()
    },
    requestsLeft: () => Math.min(shared.requestsLeft(), budget.left() / Math.max(1, unitsEach)),
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
    signal: shared.signal,
    lookback: lookbackOf(options),
    onNotice,
    onDetail: options.onDetail ?? (() => {}),
    runId: id,
  })
  await close()
  await saveRunReport({ id, ...result, stats }, onNotice, shared.signal)
  return { ...result, stats }
}

/** Undefined for the default. */
export function lookbackOf({
  lookbackBlocks: blocks,
  lookbackMs: ms,
}: Pick<RunOptions, 'lookbackBlocks' | 'lookbackMs'>): Lookback | undefined {
  return blocks === undefined && ms === undefined ? undefined : { blocks: blocks ?? 0, ms: ms ?? 0 }
}

/**
 * Returns the failure with the lowest exit code. If no job failed, returns the reason why one is incomplete,
 * if any.
 */
export function worstCode(results: readonly (JobResult & { stats: RunStats })[]): FailureCode | undefined {
  const codes = results.flatMap(({ error }) => (error === undefined ? [] : [error.code]))
  codes.sort((a, b) => FAILURES[a].exit - FAILURES[b].exit)
  return codes[0] ?? results.map(({ stats }) => incompleteReason(stats)).find((code) => code !== undefined)
}
