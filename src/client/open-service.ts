import { ExportError } from '../core/errors.ts'
import { openDemo } from './open-demo.ts'
import type { RequestEvent } from './request.ts'
import type { RetryOptions } from './retry.ts'
import { createServiceClient, type ServiceClient } from './service-client.ts'

export type ServiceAccess = {
  /** `demo` starts the embedded service; undefined is refused with USAGE. */
  baseUrl: string | undefined
  /** The key for the service; never kept anywhere. */
  apiKey?: string | undefined
  /** @default x-service-api-key */
  apiKeyHeader?: string | undefined
  /** For one request, its body included, in milliseconds. @default 30000 */
  timeoutMs?: number | undefined
  /** Requests in flight, at most. @default 16 */
  concurrency?: number | undefined
  /** Requests that may be sent, tries included; undefined: no bound. */
  maxRequests?: number | undefined
  /** Stop after this long, in milliseconds (at most 24 days count); undefined: no bound. */
  deadlineMs?: number | undefined
  retry?: RetryOptions | undefined
  /** Aborting it with an ExportError ends every request with that error. */
  signal?: AbortSignal | undefined
  /** One line about each retry and refusal. */
  onDetail?: ((detail: string) => void) | undefined
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
  const { apiKey, apiKeyHeader, timeoutMs, concurrency, retry } = access
  const counts = { requests: 0, rateLimited: 0, retries: 0 }
  const baseUrl = requireBaseUrl(access.baseUrl)
  const demo = baseUrl === 'demo' ? await openDemo() : undefined
  const { signal, clear } = startDeadline(access)
  const client = createServiceClient({
    ...{ apiKeyHeader, timeoutMs, concurrency, retry },
    baseUrl: demo?.url ?? baseUrl,
    apiKey: demo === undefined ? apiKey : undefined,
    onEvent: (event) => note(event, counts, access),
  })
  return {
    ...{ client, counts, signal },
    close: async () => {
      clear()
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

function startDeadline({ deadlineMs, signal: given }: ServiceAccess) {
  const stop = new AbortController()
  const end = () => stop.abort(reached('deadline'))
  const timer = deadlineMs === undefined ? undefined : setTimeout(end, Math.min(deadlineMs, 2 ** 31 - 1))
  const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal])
  return { signal, clear: () => clearTimeout(timer) }
}

function note(event: RequestEvent, counts: RequestCounts, { maxRequests, onDetail }: ServiceAccess): void {
  if (event.kind === 'sent') {
    if (counts.requests === maxRequests) throw reached(`budget of ${maxRequests} requests`)
    counts.requests += 1
  } else if (event.kind === 'refused') {
    counts.rateLimited += 1
    onDetail?.(`429, everything waits ${event.waitMs} ms`)
  } else if (event.kind === 'retried') {
    counts.retries += 1
    onDetail?.(`asking again: ${event.reason}`)
  }
}

function reached(bound: string): ExportError {
  return new ExportError('BUDGET_REACHED', `the ${bound} is reached`)
}
