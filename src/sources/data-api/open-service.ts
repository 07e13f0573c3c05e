import { DEFAULT_API } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { type RequestCounts, type ServiceAccess, startRequests } from '../service-access.ts'
import { createMeter } from './compute-units.ts'
import { createServiceClient, type ServiceClient } from './service-client.ts'

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
  requireDataApi(access)
  const { apiKeyHeader, allowPlainHttp, timeoutMs, concurrency, retry } = access
  const { end, counts, signal, ...requests } = await startRequests(access, createMeter(access))
  const client = createServiceClient({
    apiKeyHeader,
    allowPlainHttp,
    timeoutMs,
    concurrency,
    retry,
    ...requests,
  })
  return {
    client,
    counts,
    signal,
    close: async () => {
      await client.close()
      await end()
    },
  }
}

function requireDataApi({ api = DEFAULT_API }: ServiceAccess): void {
  if (api === DEFAULT_API) return
  const message = `this command needs a service with the API ${DEFAULT_API}, and this one has ${api}`
  throw new ExportError('USAGE', message, {
    fix: `Name a service with the API ${DEFAULT_API} by --base-url or WALLETLAKE_BASE_URL.`,
  })
}
