import { setMaxListeners } from 'node:events'
import { checkCallOptions, OPTION, type OptionCheck } from '../../core/model/call-options.ts'
import { ExportError } from '../../core/model/errors.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { raceAbort } from '../../core/platform/abort-signal.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { MAX_TIMEOUT_MS } from '../../core/platform/max-timeout.ts'
import { createClient } from '../../http/http-client.ts'
import { createRateLimiter, type RateLimiter } from '../../http/rate-limit/rate-limiter.ts'
import { type RequestContext, request } from '../../http/request.ts'
import type { RequestEvent } from '../../http/request-events.ts'
import type { RetryOptions } from '../../http/retry.ts'
import { checkAccess } from './check-access.ts'
import type { Call } from './operations/call.ts'
import { type ChainOperations, chainOperations } from './operations/chains.ts'
import { type NftOperations, nftOperations } from './operations/nfts.ts'
import { type SharedSecretOperations, sharedSecretOperations } from './operations/shared-secret.ts'
import { type TransactionOperations, transactionOperations } from './operations/transactions.ts'
import { type WebhookAddressOperations, webhookAddressOperations } from './operations/webhook-addresses.ts'
import { type WebhookOperations, webhookOperations } from './operations/webhooks.ts'

/** Where a service is, the key for it, and how it is asked. */
export type ServiceClientOptions = {
  /** Base address of the service, http or https, without user, password and query. */
  baseUrl: string
  /** Sent with every request to this service and never shown. None: no key is sent. */
  apiKey?: string | undefined
  /**
   * Header that carries the key (interface section 5).
   * @default x-service-api-key; x-glacier-api-key for the hosts of the Avalanche Data API
   */
  apiKeyHeader?: string | undefined
  /** Send the key unencrypted where `baseUrl` is http and no address of this machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** For one request, its body included, in milliseconds. @default 30000 */
  timeoutMs?: number | undefined
  /** Requests in flight at once, 1 to 256. @default 16 */
  concurrency?: number | undefined
  /** Tries after faults, and the waits between them. @default 7 tries, 500 ms doubling up to 30 s, full jitter */
  retry?: RetryOptions | undefined
  /** Quota gate to share with other clients of the same key (`createRateLimiter`). @default one for this client */
  rateLimiter?: RateLimiter | undefined
  /** Told of every try, answer, 429 and retry; what it throws ends the request. */
  onEvent?: ((event: RequestEvent) => void) | undefined
}

/** What a client takes where its options say nothing. */
export const SERVICE_CLIENT_DEFAULTS = {
  timeoutMs: 30_000,
  concurrency: 16,
} as const satisfies Partial<ServiceClientOptions>

/**
 * Every operation of a data service: section 4 of the interface, and those of known services beyond it, which others
 * answer with 404.
 *
 * Any 2xx is a success. All rejections are an `ExportError`: KEY_REFUSED for 401 and 403; REQUEST_REFUSED for 400, 404
 * and other 4xx, at once; SERVICE_UNAVAILABLE for 500, 502, 503 and connections that fail, PAGE_MALFORMED for bodies
 * that are not what the interface promises, both after all tries; USAGE, before anything is sent, for a value that no path
 * can hold. `status` is the answer's. 429 holds back every request of the gate as long as the service asks and is never an error,
 * but for `reindexNft`. Messages hold the service's own words, but neither key nor query.
 */
export type ServiceClient = TransactionOperations &
  ChainOperations &
  NftOperations &
  WebhookOperations &
  WebhookAddressOperations &
  SharedSecretOperations & {
    /** Ends the connections; calls under way and later ones reject with USAGE. */
    close(): Promise<void>
  }

/** Creates a client of one service. Throws USAGE where an option makes no sense; sends nothing yet. */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  checkCallOptions('createServiceClient', options, OPTIONS)
  const { apiKeyHeader, timeoutMs, concurrency } = withDefaults(options)
  const access = checkAccess({ ...options, apiKeyHeader })
  checkInteger('timeoutMs', timeoutMs, MAX_TIMEOUT_MS)
  checkInteger('concurrency', concurrency, 256)
  const client = createClient({
    ...access,
    ...{ timeoutMs, connections: concurrency, allowPlainHttp: options.allowPlainHttp },
  })
  const closed = new AbortController()
  // Every request in flight listens to it: many listeners are no leak here.
  setMaxListeners(0, closed.signal)
  const call = createCall({
    client,
    rateLimiter: options.rateLimiter ?? createRateLimiter(),
    limit: limitConcurrency(concurrency),
    signal: closed.signal,
    health: { hasResponded: false, lastError: undefined },
    onEvent: options.onEvent ?? (() => {}),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
  })
  return {
    ...transactionOperations(call),
    ...chainOperations(call),
    ...nftOperations(call),
    ...webhookOperations(call),
    ...webhookAddressOperations(call),
    ...sharedSecretOperations(call),
    close: () => {
      closed.abort(new ExportError('USAGE', 'the client is closed', { fix: 'Create another client.' }))
      return client.close()
    },
  }
}

/** Other rules than the type are looked at one by one. */
const OPTIONS = {
  ...{ baseUrl: OPTION.text, apiKey: OPTION.text, apiKeyHeader: OPTION.text },
  ...{ timeoutMs: OPTION.any, concurrency: OPTION.any, retry: OPTION.object, rateLimiter: OPTION.object },
  onEvent: OPTION.listener,
  allowPlainHttp: OPTION.flag,
} as const satisfies Record<keyof ServiceClientOptions, OptionCheck>

function withDefaults({ baseUrl, apiKeyHeader, timeoutMs, concurrency }: ServiceClientOptions) {
  return {
    apiKeyHeader: apiKeyHeader ?? keyHeaderOf(baseUrl),
    timeoutMs: timeoutMs ?? SERVICE_CLIENT_DEFAULTS.timeoutMs,
    concurrency: concurrency ?? SERVICE_CLIENT_DEFAULTS.concurrency,
  }
}

function checkInteger(name: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return
  throw new ExportError('USAGE', `${name} is ${value}`, { fix: `Give a whole number from 1 to ${max}.` })
}

function createCall(requestContext: RequestContext): Call {
  return (spec, read, { signal } = {}) =>
    request(signal === undefined ? requestContext : withSignal(requestContext, signal), spec, read)
}

/** The same requester for a call that ends with its own signal, also while it waits for its turn. */
function withSignal(requestContext: RequestContext, callSignal: AbortSignal): RequestContext {
  const signal = AbortSignal.any([requestContext.signal, callSignal])
  return { ...requestContext, signal, limit: (task) => raceAbort(requestContext.limit(task), signal) }
}
