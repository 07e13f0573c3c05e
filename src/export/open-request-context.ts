import type { MeteredOperation } from '../core/model/compute-units.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import { countRequest, type RunStats } from '../core/model/run-stats.ts'
import { type KeyTransport, requireEncryptedKey } from '../core/model/service-key.ts'
import { DAY_MS, utcDay } from '../core/model/utc.ts'
import { smallest } from '../core/platform/extremes.ts'
import type { RetryOptions } from '../core/platform/retry.ts'
import { type Client, createClient } from '../http/http-client.ts'
import type { RateLimiter } from '../http/rate-limit/rate-limiter.ts'
import {
  describeRequest,
  type RequestContext,
  type RequestEvent,
  type RequestLine,
  requestedWait,
} from '../http/request.ts'
import { type DailyBudget, openDailyBudget } from '../http/run-limits.ts'
import { sourceOf } from '../sources/index.ts'
import type { Meter } from '../sources/service-access.ts'
import { requireFeatures } from './check-job.ts'
import { readReports } from './history/past-runs.ts'

export type RequestContextOptions = {
  /** API key. @default none */
  apiKey?: string | undefined
  /** Allow sending the key over unencrypted HTTP to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** URL of the embedded server, for jobs whose base URL is `demo`. */
  demoUrl: string | undefined
  rateLimiter: RateLimiter
  limit: RequestContext['limit']
  signal: AbortSignal
  retry?: RetryOptions | undefined
  /** Updated in place on every request. */
  stats: RunStats
  /** Called before each request, with its compute units. An exception ends the job. */
  countRequest: (units: number) => void
  /** Number of requests that may still be sent. @default unlimited */
  requestsLeft?: (() => number) | undefined
  /**
   * Called with the wait that the service requests, in milliseconds. The returned text is passed to `onNotice`.
   */
  checkWait: (requestedWaitMs: number) => string | undefined
  /** Called with one line per retry and per 429. */
  onDetail?: ((detail: string) => void) | undefined
  /** Called with one line per cause of failing requests, and per long wait. */
  onNotice?: ((notice: string) => void) | undefined
}

/** Opens the HTTP client and request context of a job. `close` closes the connections. */
export function openRequestContext(
  job: Job,
  options: RequestContextOptions,
): { requestContext: RequestContext; close: () => Promise<void> } {
  const { rateLimiter, limit, signal, retry, stats, requestsLeft, onDetail } = options
  const warnOfRetry = warnOnce(options, job.name)
  const client = clientFor(job, options)
  const health = stats.service
  const meter = meterOf(job)
  const onEvent = (event: RequestEvent) => {
    countEvent(event, { stats, meter, countRequest: options.countRequest })
    warnOfRetry(event)
    announceWait(options, event, job.name)
    const detail = describeRequest(event)
    if (detail !== undefined) onDetail?.(detail)
  }
  const requestContext = {
    client,
    rateLimiter,
    limit,
    signal,
    health,
    onEvent,
    weightOf: meter && weightFor(meter, meter.costs[mainOperation(job)]),
    ...(retry === undefined ? {} : { retry }),
    ...(requestsLeft === undefined ? {} : { requestsLeft }),
  }
  return { requestContext, close: () => client.close() }
}

/** The weights of requests if a known rate counts those of `unitsEach` compute units. */
const weightFor =
  (meter: Meter, unitsEach: number) =>
  (request: RequestLine): number =>
    unitsEach === 0 ? 1 : meter.unitsOf(request) / unitsEach

function announceWait(
  { checkWait, onNotice }: RequestContextOptions,
  event: RequestEvent,
  name: string,
): void {
  const requestedWaitMs = requestedWait(event)
  const notice = requestedWaitMs === undefined ? undefined : checkWait(requestedWaitMs)
  if (notice !== undefined) onNotice?.(`${name}: ${notice}`)
}

/**
 * Reports each cause of failing requests once: immediately if no request has succeeded yet, otherwise after
 * `PERSISTENT_FAILURES` consecutive failures of a request.
 */
function warnOnce({ stats, onNotice }: RequestContextOptions, name: string): (event: RequestEvent) => void {
  const reported = new Set<string>()
  return (event) => {
    if (event.kind !== 'retried' || reported.has(event.reason)) return
    if (stats.service.hasResponded && event.failures < PERSISTENT_FAILURES) return
    reported.add(event.reason)
    onNotice?.(`${name}: ${event.reason}; retrying`)
  }
}

/** Consecutive failures of a request after which its cause is reported. */
const PERSISTENT_FAILURES = 3

/** Throws USAGE if the job has no base URL, or if the key would be sent unencrypted; JOB_INVALID if the API lacks a feature. */
export function requireService(job: Job, key: Omit<KeyTransport, 'baseUrl'>): void {
  const { service, file } = job
  requireFeatures(job)
  requireEncryptedKey({ ...key, baseUrl: service.baseUrl })
  if (service.baseUrl !== undefined) return
  throw new ExportError('USAGE', `${file}: no service is named`, {
    fix: 'Set service.baseUrl in the job, WALLETLAKE_BASE_URL or --base-url; `demo` is the embedded service.',
  })
}

function clientFor(
  { service, concurrency }: Job,
  { demoUrl, apiKey, allowPlainHttp }: RequestContextOptions,
): Client {
  const { baseUrl = '', apiKeyHeader, timeoutMs } = service
  const { apiKeyParameter } = sourceOf(service.api)
  const shared = { apiKeyHeader, apiKeyParameter, timeoutMs, connections: concurrency }
  if (baseUrl === 'demo') return createClient({ ...shared, baseUrl: demoUrl ?? '', apiKey: undefined })
  return createClient({ ...shared, baseUrl, apiKey, allowPlainHttp })
}

type Counters = Pick<RequestContextOptions, 'stats' | 'countRequest'> & { meter: Meter | undefined }

function countEvent(event: RequestEvent, { stats, meter, ...counters }: Counters): void {
  if (event.kind === 'sent') {
    const units = meter?.unitsOf(event) ?? 0
    counters.countRequest(units)
    countRequest(stats, units, Date.now())
  } else if (event.kind === 'received') stats.bytes += event.bytes
  else if (event.kind === 'throttled') stats.rateLimited += 1
  else if (event.kind === 'retried') stats.retries += 1
}

/** The meter of a job's service; undefined if the source counts requests only. */
export function meterOf({ service }: Pick<Job, 'service'>): Meter | undefined {
  return sourceOf(service.api).openMeter?.(service)
}

/** The operation that most requests of a job belong to. */
export function mainOperation({ kind }: Pick<Job, 'kind'>): MeteredOperation {
  return kind === 'blocks' ? 'block' : 'listing'
}

/**
 * The rate in requests per millisecond at which jobs that share a rate limiter can start, according to their tiers: that of
 * their main operations, of which other requests are multiples. Undefined if none is known.
 */
export function knownRateOf(jobs: readonly Pick<Job, 'kind' | 'service'>[]): number | undefined {
  const rates = jobs.map((job) => meterOf(job)?.requestsPerMs(mainOperation(job)))
  const known = rates.filter((rate) => rate !== undefined)
  return known.length === 0 ? undefined : smallest(known)
}

/**
 * Opens the daily budgets of a run. Jobs of one service share one: the lowest that any of them states, less what earlier
 * runs into their outputs used today.
 */
export async function openBudgetsOf(
  jobs: readonly Pick<Job, 'service' | 'output'>[],
): Promise<(job: Pick<Job, 'service'>) => DailyBudget> {
  const budgets = new Map<string | undefined, DailyBudget>()
  for (const { service } of jobs) {
    const { baseUrl } = service
    if (budgets.has(baseUrl)) continue
    const sharing = jobs.filter((job) => job.service.baseUrl === baseUrl)
    const limits = sharing.flatMap((job) => meterOf(job)?.perDay ?? [])
    const perDay = limits.length === 0 ? undefined : smallest(limits)
    const used = perDay === undefined ? 0 : await unitsUsedToday(sharing.map(({ output }) => output))
    budgets.set(baseUrl, openDailyBudget({ perDay, used }))
  }
  return ({ service }) => budgets.get(service.baseUrl) ?? openDailyBudget({ perDay: undefined, used: 0 })
}

/** Compute units that the runs into these outputs used in the current UTC day, according to their reports. */
export async function unitsUsedToday(outputs: readonly string[], now = Date.now()): Promise<number> {
  let units = 0
  for (const output of outputs)
    for await (const report of readReports(output)) {
      const { startedAt = '', computeUnitsByDay } = report as ReportedUnits
      if (Date.parse(startedAt) < now - MAX_RUN_DAYS * DAY_MS) break
      const reported = computeUnitsByDay?.[utcDay(now)]
      if (Number.isSafeInteger(reported)) units += Math.max(0, Number(reported))
    }
  return units
}

type ReportedUnits = { startedAt?: string; computeUnitsByDay?: Record<string, unknown> | null }

/** Reports of runs that started earlier are not read. */
const MAX_RUN_DAYS = 30
