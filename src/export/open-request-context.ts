import { ExportError } from '../core/model/errors.ts'
import type { Job } from '../core/model/model.ts'
import type { RunStats } from '../core/model/run-stats.ts'
import { type KeyTransport, requireEncryptedKey } from '../core/model/service-key.ts'
import { type Client, createClient } from '../http/http-client.ts'
import type { RateLimiter } from '../http/rate-limit/rate-limiter.ts'
import type { RequestContext } from '../http/request.ts'
import { describeRequest, type RequestEvent, requestedWait } from '../http/request-events.ts'
import type { RetryOptions } from '../http/retry.ts'

export type RequestContextOptions = {
  /** The key for the service; undefined: none. */
  apiKey?: string | undefined
  /** Send it unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Where the embedded service is, for a job that names it. */
  demoUrl: string | undefined
  rateLimiter: RateLimiter
  limit: RequestContext['limit']
  signal: AbortSignal
  retry?: RetryOptions | undefined
  /** Counts every request, in place. */
  stats: RunStats
  /** Called before each request; what it throws ends the job. */
  countRequest: () => void
  /** Told how long the service asks to wait; what it returns is passed to `onNotice`. */
  checkWait: (requestedWaitMs: number) => string | undefined
  /** One line about each retry and refusal. */
  onDetail?: ((detail: string) => void) | undefined
  /** One line about what keeps the service from answering, once for each cause. */
  onNotice?: ((notice: string) => void) | undefined
}

/** Opens the way to a job's service; `close` ends its connections. */
export function openRequestContext(
  job: Job,
  options: RequestContextOptions,
): { requestContext: RequestContext; close: () => Promise<void> } {
  const { rateLimiter, limit, signal, retry, stats, onDetail } = options
  const warnOfRetry = warnOnce(options, job.name)
  const client = clientFor(job, options)
  const health = stats.service
  const onEvent = (event: RequestEvent) => {
    countEvent(stats, event, options.countRequest)
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
    ...(retry === undefined ? {} : { retry }),
  }
  return { requestContext, close: () => client.close() }
}

function announceWait(
  { checkWait, onNotice }: RequestContextOptions,
  event: RequestEvent,
  name: string,
): void {
  const requestedWaitMs = requestedWait(event)
  const notice = requestedWaitMs === undefined ? undefined : checkWait(requestedWaitMs)
  if (notice !== undefined) onNotice?.(`${name}: ${notice}`)
}

/** Tells a cause once: at once before the service ever answered, later where it lasts. */
function warnOnce({ stats, onNotice }: RequestContextOptions, name: string): (event: RequestEvent) => void {
  const reported = new Set<string>()
  return (event) => {
    if (event.kind !== 'retried' || reported.has(event.reason)) return
    if (stats.service.hasResponded && event.failures < PERSISTENT_FAILURES) return
    reported.add(event.reason)
    onNotice?.(`${name}: ${event.reason}; asking again`)
  }
}

/** A request that failed so often in a row is more than a moment's trouble. */
const PERSISTENT_FAILURES = 3

/** Throws USAGE where the job names no service, or the key would be sent to it unencrypted. */
export function requireService({ service, file }: Job, key: Omit<KeyTransport, 'baseUrl'>): void {
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
  const shared = { apiKeyHeader, timeoutMs, connections: concurrency }
  if (baseUrl === 'demo') return createClient({ ...shared, baseUrl: demoUrl ?? '', apiKey: undefined })
  return createClient({ ...shared, baseUrl, apiKey, allowPlainHttp })
}

function countEvent(stats: RunStats, event: RequestEvent, spend: () => void): void {
  if (event.kind === 'sent') {
    spend()
    stats.requests += 1
  } else if (event.kind === 'received') stats.bytes += event.bytes
  else if (event.kind === 'throttled') stats.refusals += 1
  else if (event.kind === 'retried') stats.retries += 1
}
