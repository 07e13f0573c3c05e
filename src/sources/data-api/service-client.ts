import { setMaxListeners } from 'node:events'
import { parseBaseUrl } from '../../core/model/base-url.ts'
import { checkCallOptions, OPTION, type OptionCheck } from '../../core/model/call-options.ts'
import { ExportError } from '../../core/model/errors.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { raceAbort } from '../../core/platform/abort-signal.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { MAX_TIMEOUT_MS } from '../../core/platform/max-timeout.ts'
import type { RetryOptions } from '../../core/platform/retry.ts'
import { createClient } from '../../http/http-client.ts'
import { createRateLimiter, type RateLimiter } from '../../http/rate-limit/rate-limiter.ts'
import { type RequestContext, type RequestEvent, request } from '../../http/request.ts'
import { ACCESS_DEFAULTS } from '../service-access.ts'
import { type BalanceOperations, balanceOperations } from './operations/balances.ts'
import type { Call } from './operations/call.ts'
import { type ChainOperations, chainOperations } from './operations/chains.ts'
import { type NftOperations, nftOperations } from './operations/nfts.ts'
import { type TransactionOperations, transactionOperations } from './operations/transactions.ts'
import {
  type SharedSecretOperations,
  sharedSecretOperations,
  type WebhookAddressOperations,
  type WebhookOperations,
  webhookAddressOperations,
  webhookOperations,
} from './operations/webhooks.ts'

/** Options of a service client: URL, API key and request settings. */
export type ServiceClientOptions = {
  /** Base URL of the service, http or https, without user, password and query. */
  baseUrl: string
  /** API key, sent with every request to this service and never printed. @default no key */
  apiKey?: string | undefined
  /**
   * Header that carries the key (interface section 5).
   * @default x-service-api-key; x-glacier-api-key for the hosts of the Avalanche Data API
   */
  apiKeyHeader?: string | undefined
  /** Allow the key to be sent unencrypted if `baseUrl` is http and not an address of this machine. @default false */
  allowPlainHttp?: boolean | undefined
  /** Timeout of one request including its body, in milliseconds. @default 30000 */
  timeoutMs?: number | undefined
  /** Maximum number of requests in flight, 1 to 256. @default 16 */
  concurrency?: number | undefined
  /** Retries after errors and their delays. @default 7 retries, 500 ms doubling up to 30 s, full jitter */
  retry?: RetryOptions | undefined
  /** Rate limiter shared with other clients of the same key (`createRateLimiter`). @default one for this client */
  rateLimiter?: RateLimiter | undefined
  /** Called for every attempt, response, 429 and retry. What it throws ends the request. */
  onEvent?: ((event: RequestEvent) => void) | undefined
}

/** Default options of a client. */
export const SERVICE_CLIENT_DEFAULTS = ACCESS_DEFAULTS satisfies Partial<ServiceClientOptions>

/**
 * All operations of a data service: those of section 4 of the interface, and those that known services offer
 * beyond it; other services respond to these with 404.
 *
 * Any 2xx status is a success. All rejections are an `ExportError` whose `status` is that of the response:
 *
 * - KEY_REFUSED for 401 and 403, immediately
 * - REQUEST_REFUSED for 400, 404 and other 4xx, immediately
 * - SERVICE_UNAVAILABLE for 5xx and failed connections, after all retries
 * - PAGE_MALFORMED for bodies that violate the interface, after all retries
 * - USAGE for a value that cannot be used in a path, before anything is sent
 *
 * A 429 pauses all requests of the rate limiter for the requested delay and is never an error, except for
 * `reindexNft`. Messages contain the service's own message, but neither key nor query.
 */
export type ServiceClient = TransactionOperations &
  BalanceOperations &
  ChainOperations &
  NftOperations &
  WebhookOperations &
  WebhookAddressOperations &
  SharedSecretOperations & {
    /** Closes the connections. Pending and later calls reject with USAGE. */
    close(): Promise<void>
  }

/**
 * Creates a client for one service. Sends nothing yet.
 *
 * @throws USAGE if an option is invalid
 * @example
 * ```ts
 * const client = createServiceClient({ baseUrl: 'https://…', apiKey })
 * for await (const { transactions } of client.listWalletTransactions({ chainId: 43114, address: '0x…' }))
 *   console.log(transactions.length)
 * await client.close()
 * ```
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  checkCallOptions('createServiceClient', options, OPTIONS)
  const { apiKeyHeader, timeoutMs, concurrency } = withDefaults(options)
  const access = checkAccess({ ...options, apiKeyHeader })
  checkInteger('timeoutMs', timeoutMs, MAX_TIMEOUT_MS)
  checkInteger('concurrency', concurrency, 256)
  const client = createClient({
    ...access,
    timeoutMs,
    connections: concurrency,
    allowPlainHttp: options.allowPlainHttp,
  })
  const closed = new AbortController()
  // Every request in flight adds a listener, so many listeners do not indicate a leak.
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
    ...balanceOperations(call),
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

/** Types of the options. Other rules are checked separately. */
const OPTIONS = {
  baseUrl: OPTION.text,
  apiKey: OPTION.text,
  apiKeyHeader: OPTION.text,
  timeoutMs: OPTION.any,
  concurrency: OPTION.any,
  retry: OPTION.object,
  rateLimiter: OPTION.object,
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

/** The request context with an additional signal, which also aborts waiting for a free slot. */
function withSignal(requestContext: RequestContext, callSignal: AbortSignal): RequestContext {
  const signal = AbortSignal.any([requestContext.signal, callSignal])
  return { ...requestContext, signal, limit: (task) => raceAbort(requestContext.limit(task), signal) }
}

type Access = { baseUrl: string; apiKey?: string | undefined; apiKeyHeader: string }

/**
 * Validates the base URL of a service and the API key. Removes trailing slashes and `/v1` from the URL; an
 * empty key counts as none.
 *
 * @throws USAGE, without the value, because it may contain a secret
 */
function checkAccess({ baseUrl, apiKey, apiKeyHeader }: Access) {
  const url = parseBaseUrl(baseUrl)
  if (url === undefined)
    throw invalidOption('baseUrl', 'Give an http or https URL without user, password, query and #.')
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(apiKeyHeader))
    throw invalidOption('apiKeyHeader', 'Give the name of an HTTP header, like x-service-api-key.')
  if (apiKey !== undefined && !/^[\x21-\x7e]*$/.test(apiKey))
    throw invalidOption('apiKey', 'Give the key as printable ASCII without spaces and line ends.')
  return { baseUrl: url, apiKey: apiKey || undefined, apiKeyHeader }
}

function invalidOption(option: keyof Access, fix: string): ExportError {
  return new ExportError('USAGE', `${option} cannot be used`, { fix })
}
