import { ExportError } from '../../core/model/errors.ts'
import { describeRequest, type RequestEvent, requestedWait } from '../../http/request-events.ts'
import type { RetryOptions } from '../../http/retry.ts'
import { type RunLimits, startRunLimits } from '../../http/run-limits.ts'
import { openDemo } from './open-demo.ts'
import { createServiceClient, type ServiceClient } from './service-client.ts'

export type ServiceAccess = RunLimits & {
  /** `demo` starts the embedded service; undefined is refused with USAGE. */
  baseUrl: string | undefined
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** Send it unencrypted, over http, to another machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** @default that of the host, else x-service-api-key */
  apiKeyHeader?: string | undefined
  /** For one request, its body included, in milliseconds. @default 30000 */
  timeoutMs?: number | undefined
  /** Requests in flight, at most. @default 16 */
  concurrency?: number | undefined
  retry?: RetryOptions | undefined
  /** One line about each retry and refusal. */
  onDetail?: ((detail: string) => void) | undefined
  /** One line about a long wait that the service asks for, once. */
  onNotice?: ((notice: string) => void) | undefined
}

/** Requests of an opened service; counts change in place. */
export type RequestCounts = { requests: number; rateLimited: number; retries: number }

export type OpenedService = {
  client: ServiceClient
  counts: Readonly<RequestCounts>
  /** To be passed with every call: it ends at the deadline too, with BUDGET_REACHED. */
  signal: AbortSignal
  close(): Promise<void>
}

/**
 * Opens a service for one command, within one quota gate, one concurrency and one budget. A request over the budget
 * rejects with BUDGET_REACHED, unsent. Throws USAGE where no service is named or an option makes no sense.
 */
export async function openService(access: ServiceAccess): Promise<OpenedService> {
  const { apiKey, apiKeyHeader, allowPlainHttp, timeoutMs, concurrency, retry } = access
  const counts = { requests: 0, rateLimited: 0, retries: 0 }
  const baseUrl = requireBaseUrl(access.baseUrl)
  const demo = baseUrl === 'demo' ? await openDemo() : undefined
  const { signal, countRequest, checkWait, end } = startRunLimits(access, 'the command was aborted')
  const client = createServiceClient({
    ...{ apiKeyHeader, allowPlainHttp, timeoutMs, concurrency, retry },
    baseUrl: demo?.url ?? baseUrl,
    apiKey: demo === undefined ? apiKey : undefined,
    onEvent: (event) => {
      if (event.kind === 'sent') countRequest()
      countEvent(counts, event)
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
