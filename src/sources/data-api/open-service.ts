import { type Api, DEFAULT_API } from '../../core/model/api.ts'
import type { MeteredOperation, QuotaSettings } from '../../core/model/compute-units.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { RetryOptions } from '../../core/platform/retry.ts'
import { openDemo } from '../../demo-server/open-demo.ts'
import { openDailyBudget } from '../../http/daily-budget.ts'
import { createRateLimiter, systemClock } from '../../http/rate-limit/rate-limiter.ts'
import { describeRequest, type RequestEvent, requestedWait } from '../../http/request-events.ts'
import { type RunLimits, startRunLimits } from '../../http/run-limits.ts'
import { createMeter } from './compute-units.ts'
import { createServiceClient, type ServiceClient } from './service-client.ts'

export type ServiceAccess = RunLimits &
  QuotaSettings & {
    /** Base URL; `demo` starts the embedded service. Undefined throws USAGE. */
    baseUrl: string | undefined
    /** The API of the service. Others than the data API throw USAGE. @default data-api */
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

export type OpenedService = {
  client: ServiceClient
  counts: Readonly<RequestCounts>
  /** Must be passed with every call. Also aborted at the deadline, with BUDGET_REACHED. */
  signal: AbortSignal
  close(): Promise<void>
}

/**
 * Opens a service for one command, with one rate limiter, one concurrency limit and one request limit. A
 * request above the limit rejects with BUDGET_REACHED and is not sent.
 *
 * @throws USAGE if no service is set, it has another API, or an option is invalid
 */
export async function openService(access: ServiceAccess): Promise<OpenedService> {
  const { apiKey, apiKeyHeader, allowPlainHttp, timeoutMs, concurrency, retry } = access
  const counts = { requests: 0, computeUnits: 0, rateLimited: 0, retries: 0 }
  const meter = createMeter(access)
  const baseUrl = requireBaseUrl(access.baseUrl)
  requireDataApi(access.api)
  const demo = baseUrl === 'demo' ? await openDemo() : undefined
  const { signal, countRequest, checkWait, end } = startRunLimits(
    access,
    'the command was aborted',
    openDailyBudget({ perDay: meter.perDay, used: access.unitsUsedToday ?? 0 }),
  )
  const client = createServiceClient({
    ...{ apiKeyHeader, allowPlainHttp, timeoutMs, concurrency, retry },
    baseUrl: demo?.url ?? baseUrl,
    apiKey: demo === undefined ? apiKey : undefined,
    rateLimiter: createRateLimiter(systemClock, meter.requestsPerMs(access.operation ?? 'listing')),
    onEvent: (event) => {
      const units = event.kind === 'sent' ? meter.unitsOf(event) : 0
      if (event.kind === 'sent') countRequest(units)
      countEvent(counts, event)
      counts.computeUnits += units
      const requestedWaitMs = requestedWait(event)
      const notice = requestedWaitMs === undefined ? undefined : checkWait(requestedWaitMs)
      if (notice !== undefined) access.onNotice?.(notice)
      const detail = describeRequest(event)
      if (detail !== undefined) access.onDetail?.(detail)
    },
  })
  return {
    ...{ client, counts, signal },
    close: async () => {
      end()
      await client.close()
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

function requireDataApi(api: Api = DEFAULT_API): void {
  if (api === DEFAULT_API) return
  throw new ExportError(
    'USAGE',
    `this command needs a service with the API ${DEFAULT_API}, and this one has ${api}`,
    {
      fix: 'Name a service with the API data-api by --base-url or WALLETLAKE_BASE_URL.',
    },
  )
}
