import { type Api, DEFAULT_API } from '../core/model/api.ts'
import type { MeteredOperation, QuotaSettings } from '../core/model/compute-units.ts'
import { ExportError } from '../core/model/errors.ts'
import type { RetryOptions } from '../core/platform/retry.ts'
import { openDemo } from '../demo-server/open-demo.ts'
import { createRateLimiter, type RateLimiter, systemClock } from '../http/rate-limit/rate-limiter.ts'
import { describeRequest, type RequestEvent, type RequestLine, requestedWait } from '../http/request.ts'
import { openDailyBudget, type RunLimits, startRunLimits } from '../http/run-limits.ts'

export type ServiceAccess = RunLimits &
  QuotaSettings & {
    /** Base URL; `demo` starts the embedded service. Undefined throws USAGE. */
    baseUrl: string | undefined
    /** The API of the service. @default data-api */
    api?: Api | undefined
    /** API key for the service; never stored. */
    apiKey?: string | undefined
    /** Allow the key to be sent unencrypted, over HTTP, to another machine. @default false */
    allowPlainHttp?: boolean | undefined
    /** @default that of the host, else x-service-api-key */
    apiKeyHeader?: string | undefined
    /** Timeout of one request including its body, in milliseconds. @default 30000 */
    timeoutMs?: number | undefined
    /** Maximum number of requests in flight. @default 16 */
    concurrency?: number | undefined
    retry?: RetryOptions | undefined
    /** The operation that most requests belong to. @default listing */
    operation?: MeteredOperation | undefined
    /** Compute units that were used earlier today. @default 0 */
    unitsUsedToday?: number | undefined
    /** Receives one line about each retry and each 429. */
    onDetail?: ((detail: string) => void) | undefined
    /** Receives one line about each long delay that the service requests, once. */
    onNotice?: ((notice: string) => void) | undefined
  }

/** Request counts of an opened service, updated in place. */
export type RequestCounts = { requests: number; computeUnits: number; rateLimited: number; retries: number }

/** Settings of requests that a command or a client does not set. */
export const ACCESS_DEFAULTS = { timeoutMs: 30_000, concurrency: 16 } as const

/** The limits and counts of a command's requests, and where they are sent. */
export type StartedRequests = {
  baseUrl: string
  /** Undefined for the embedded service. */
  apiKey: string | undefined
  rateLimiter: RateLimiter
  onEvent: (event: RequestEvent) => void
  counts: Readonly<RequestCounts>
  /** Must be passed with every request. Also aborted at the deadline, with BUDGET_REACHED. */
  signal: AbortSignal
  end(): Promise<void>
}

/**
 * Starts the requests of one command, with one rate limiter and one request limit. A request above the limit rejects with
 * BUDGET_REACHED and is not sent.
 *
 * @param meter the costs of requests. @default none: only their number counts
 * @throws USAGE if no service is set
 */
export async function startRequests(
  access: ServiceAccess,
  meter?: Pick<Meter, 'unitsOf' | 'perDay' | 'requestsPerMs'>,
): Promise<StartedRequests> {
  const counts = { requests: 0, computeUnits: 0, rateLimited: 0, retries: 0 }
  const baseUrl = requireBaseUrl(access.baseUrl)
  const demo = baseUrl === 'demo' ? await openDemo(access.api ?? DEFAULT_API) : undefined
  const { signal, countRequest, checkWait, end } = startRunLimits(
    access,
    'the command was aborted',
    openDailyBudget({ perDay: meter?.perDay, used: access.unitsUsedToday ?? 0 }),
  )
  return {
    counts,
    signal,
    baseUrl: demo?.url ?? baseUrl,
    apiKey: demo === undefined ? access.apiKey : undefined,
    rateLimiter: createRateLimiter(systemClock, meter?.requestsPerMs(access.operation ?? 'listing')),
    onEvent: (event) => {
      const units = event.kind === 'sent' ? (meter?.unitsOf(event) ?? 0) : 0
      if (event.kind === 'sent') countRequest(units)
      countEvent(counts, event)
      counts.computeUnits += units
      const requestedWaitMs = requestedWait(event)
      const notice = requestedWaitMs === undefined ? undefined : checkWait(requestedWaitMs)
      if (notice !== undefined) access.onNotice?.(notice)
      const detail = describeRequest(event)
      if (detail !== undefined) access.onDetail?.(detail)
    },
    end: async () => {
      end()
      await demo?.close()
    },
  }
}

function requireBaseUrl(baseUrl: string | undefined): string {
  if (baseUrl !== undefined) return baseUrl
  throw new ExportError('USAGE', 'no service is named', {
    fix: 'Set --base-url or WALLETLAKE_BASE_URL, or name the job file; `demo` is the embedded service.',
  })
}

function countEvent(counts: RequestCounts, { kind }: RequestEvent): void {
  if (kind === 'sent') counts.requests += 1
  else if (kind === 'throttled') counts.rateLimited += 1
  else if (kind === 'retried') counts.retries += 1
}

/** What requests cost in the compute units of a service, and its quota as far as it is known. */
export type Meter = {
  /** Compute units of one request. */
  unitsOf(request: RequestLine): number
  /** Compute units of one request of each operation. */
  readonly costs: Readonly<Record<MeteredOperation, number>>
  /** The quota, in compute units. Undefined if neither a tier nor a limit is set. */
  readonly perMinute: number | undefined
  readonly perDay: number | undefined
  /** The rate of an operation at which the quota is used and not exceeded; undefined if it is unknown. */
  requestsPerMs(operation: MeteredOperation): number | undefined
}
