import { setTimeout as wait } from 'node:timers/promises'
import pRetry from 'p-retry'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'
import { delayBeforeRetry, RETRY_POLICIES, type RetryOptions } from '../core/platform/retry.ts'
import type { ApiResponse, Client, ClientRequest } from './http-client.ts'
import { explainBody, hasOwnFix, httpStatusError, type RequestedUrl } from './http-status-error.ts'
import type { RequestOutcome } from './rate-limit/limiter-state.ts'
import type { RateLimiter } from './rate-limit/rate-limiter.ts'
import { clockSkew, readOutcome, readRemaining } from './read-outcome.ts'
import { MAX_WAIT_MS, waitTooLongError } from './run-limits.ts'

/** Health of the service, updated in place. After the first successful response, every error may be temporary. */
type ServiceHealth = {
  hasResponded: boolean
  /** Why the latest attempts failed; undefined after a success. */
  lastError: string | undefined
  /** How far the service's clock is ahead of this machine's, in milliseconds; undefined if unknown. */
  aheadMs?: number | undefined
}

export type RequestContext = {
  client: Client
  rateLimiter: RateLimiter
  /** Runs a task within the run's concurrency limit. */
  limit: <T>(task: () => Promise<T>) => Promise<T>
  retry?: RetryOptions
  /** Number of requests that may still be sent. @default unlimited */
  requestsLeft?: () => number
  signal: AbortSignal
  /** The cost of a request, as a multiple of those that the rate limiter's known rate counts. @default 1 */
  weightOf?: ((request: RequestLine) => number) | undefined
  /** Health of the service. Without it, the service counts as having responded. */
  health?: ServiceHealth
  /** Called for each event. Throws BUDGET_REACHED on `sent` if no further request may be sent. */
  onEvent: (event: RequestEvent) => void
}

/** One request and how its failures are handled. */
export type RequestSpec = ClientRequest & {
  /** Names the request in error messages, without key and query. */
  description: string
  /**
   * The request is not idempotent: it is not retried if an earlier attempt may have been processed. A 429, a
   * 503 with Retry-After and a failed connection prove that it was not; any other error ends the request.
   */
  nonIdempotent?: boolean
  /**
   * A 429 may concern a limit of the requested resource. It is waited out only if the response shows that the
   * quota is used up.
   */
  hasResourceLimit?: boolean
  /** Whether a successful response is a refusal like a 429: some APIs state it in the body only. */
  isThrottled?: (response: ApiResponse) => boolean
  /** Errors that the caller handles with another request: they are thrown immediately, without retries. */
  isHandledByCaller?: (error: ExportError) => boolean
}

/**
 * Sends a request until a complete, well-formed response arrives, and returns what `read` makes of its body.
 *
 * A 429 is waited out, however long it takes. Other transient errors and malformed bodies are retried a
 * limited number of times; 400, 401, 403 and 404 throw immediately. Before the first successful response,
 * permanent errors abort after three attempts. The error of a request that changes something states in
 * `mayHaveActed` whether an attempt may have taken effect.
 */
export async function request<T>(
  context: RequestContext,
  spec: RequestSpec,
  read: BodyReader<T>,
): Promise<T> {
  const policy = { ...RETRY_POLICIES.request, ...context.retry }
  let failures = 0
  let mayHaveActed = false
  return pRetry(() => sendUntilAccepted(context, spec, read), {
    retries: policy.retries,
    minTimeout: 0,
    maxTimeout: 0,
    signal: context.signal,
    shouldRetry: ({ error, attemptNumber }) =>
      isRetryable(spec, error) && !isPermanentFailure(context, error, attemptNumber),
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      mayHaveActed ||= spec.method !== 'GET' && mayHaveBeenProcessed(error)
      if (retriesLeft === 0 || !isRetryable(spec, error) || isPermanentFailure(context, error, attemptNumber))
        return
      failures += 1
      const reason = context.client.redactKey(error.message)
      if (context.health !== undefined) context.health.lastError = reason
      const { retryAfterMs } = error
      context.onEvent({ kind: 'retried', reason, failures, requestedWaitMs: retryAfterMs })
      requireAcceptableWait(retryAfterMs)
      await sleep(delayBeforeRetry({ failures, retryAfterMs }, policy, Math.random), context.signal)
    },
  }).catch((thrown: unknown) => {
    context.signal.throwIfAborted()
    const hasResponded = context.health?.hasResponded ?? true
    const { redactKey, keyIn } = context.client
    throw withRequestContext(toExportError(thrown), {
      description: spec.description,
      mayHaveActed,
      hasResponded,
      redactKey,
      keyIn,
    })
  })
}

/**
 * Whether to give up on a permanent error: it has persisted, and the service has never responded successfully.
 */
function isPermanentFailure({ health }: RequestContext, error: ExportError, attempts: number): boolean {
  return error.isPermanent && health?.hasResponded === false && attempts >= MAX_PERMANENT_ATTEMPTS
}

/**
 * Attempts for permanent errors: a host name may resolve a moment later, and a portal's page may disappear.
 */
const MAX_PERMANENT_ATTEMPTS = 3

function isRetryable(
  { nonIdempotent = false, isHandledByCaller }: RequestSpec,
  error: Error,
): error is ExportError {
  if (!(error instanceof ExportError) || !error.failure.retry || error.code === 'RATE_LIMITED') return false
  if (isHandledByCaller?.(error)) return false
  return !(nonIdempotent && mayHaveBeenProcessed(error))
}

/**
 * Whether the request may have been processed: its response was lost or unreadable, or it is a server error.
 */
function mayHaveBeenProcessed(error: Error): boolean {
  if (!(error instanceof ExportError)) return true
  const { code, status, retryAfterMs } = error
  if (code === 'PAGE_MALFORMED') return true
  if (code !== 'SERVICE_UNAVAILABLE') return false
  if (status === undefined) return error.mayHaveActed
  return status >= 500 && !(status === 503 && retryAfterMs !== undefined)
}

/** Sends the request until it is not throttled. */
async function sendUntilAccepted<T>(
  context: RequestContext,
  spec: RequestSpec,
  read: BodyReader<T>,
): Promise<T> {
  for (;;) {
    const accepted = await context.limit(() => sendOnce(context, spec, read))
    if (accepted !== undefined) return accepted.value
  }
}

/** Sends the request once; returns undefined if it was throttled, in which case the rate limiter pauses. */
async function sendOnce<T>(
  context: RequestContext,
  spec: RequestSpec,
  read: BodyReader<T>,
): Promise<{ value: T } | undefined> {
  const recordOutcome = await context.rateLimiter.acquire(
    context.signal,
    context.weightOf?.(requestLineOf(spec)),
  )
  const response = await send(context, spec).catch((thrown: unknown) => {
    recordOutcome({ kind: 'failed', retryAfterMs: undefined })
    throw thrown
  })
  const outcome = readQuotaOutcome(spec, response)
  recordOutcome(outcome)
  try {
    return await handleResponse(context, spec, { response, outcome, read })
  } finally {
    response.release?.()
  }
}

type ReceivedResponse<T> = { response: ApiResponse; outcome: RequestOutcome; read: BodyReader<T> }

async function handleResponse<T>(
  context: RequestContext,
  spec: RequestSpec,
  { response, outcome, read }: ReceivedResponse<T>,
): Promise<{ value: T } | undefined> {
  if (outcome.kind === 'throttled') {
    const { retryAfterMs } = outcome
    context.onEvent({
      kind: 'throttled',
      waitMs: context.rateLimiter.pausedForMs(),
      requestedWaitMs: retryAfterMs,
    })
    requireAcceptableWait(retryAfterMs)
    return undefined
  }
  if (outcome.kind === 'granted' && context.rateLimiter.pausedForMs() > 0)
    context.onEvent({ kind: 'paused', requestedWaitMs: context.rateLimiter.pausedForMs() })
  const requested = { baseUrl: context.client.baseUrl, ...requestLineOf(spec) }
  if (response.status < 200 || response.status > 299)
    throw httpStatusError(response, context.client, requested)
  const value = await readBody(response, requested, read)
  const aheadMs = clockSkew(response.headers, Date.now())
  if (context.health) Object.assign(context.health, { hasResponded: true, lastError: undefined, aheadMs })
  return { value }
}

function requestLineOf({ method, pathAndQuery }: RequestSpec): RequestLine {
  return { method, path: pathAndQuery.replace(/\?.*$/s, '') }
}

async function send(context: RequestContext, spec: RequestSpec): Promise<ApiResponse> {
  context.onEvent({ kind: 'sent', ...requestLineOf(spec) })
  const response = await context.client.send(spec, context.signal)
  context.onEvent({ kind: 'received', bytes: response.body.length })
  return response
}

/** Throws RATE_LIMITED if the service requests a delay above `MAX_WAIT_MS`. */
function requireAcceptableWait(requestedWaitMs = 0): void {
  if (requestedWaitMs > MAX_WAIT_MS) throw waitTooLongError(requestedWaitMs)
}

/** The outcome for the rate limiter. A limit of the requested resource indicates nothing about the quota. */
function readQuotaOutcome(spec: RequestSpec, response: ApiResponse): RequestOutcome {
  const outcome = readOutcome(response)
  if (outcome.kind === 'granted' && spec.isThrottled?.(response))
    return { kind: 'throttled', retryAfterMs: undefined }
  const isResourceLimited =
    outcome.kind === 'throttled' && spec.hasResourceLimit && isResourceLimit(response, outcome.retryAfterMs)
  return isResourceLimited ? { kind: 'failed', retryAfterMs: undefined } : outcome
}

/**
 * Whether a 429 concerns the resource, not the quota: it does not report that the quota is used up, or its
 * delay is longer than that of a quota per minute.
 */
function isResourceLimit({ headers }: ApiResponse, waitMs = 0): boolean {
  return readRemaining(headers) !== 0 || waitMs > MAX_QUOTA_WAIT_MS
}

const MAX_QUOTA_WAIT_MS = 60_000

/** Waits, or returns early if the signal is aborted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(Math.min(ms, MAX_TIMEOUT_MS), undefined, { signal }).catch(() => undefined)
}

/** Parses the body of a response. Throws PAGE_MALFORMED if it is not what was requested. */
type BodyReader<T> = (body: Buffer) => T | Promise<T>

/**
 * Reads the body of a 2xx response.
 *
 * @throws PAGE_MALFORMED if it is a web page or an answer of another API, if `read` throws it, or if a GET is answered
 *   with another status than 200: a 206 carries only a part of what was requested, a 203 what a proxy made of it,
 *   and a 202 or 204 nothing.
 */
async function readBody<T>(
  response: ApiResponse,
  requested: RequestedUrl & Pick<ClientRequest, 'method'>,
  read: BodyReader<T>,
): Promise<T> {
  // `read` may transfer the body to another thread, after which it is not readable here.
  const explanation = explainBody(response, requested)
  try {
    if (requested.method === 'GET' && response.status !== 200)
      throw new ExportError('PAGE_MALFORMED', `the service answered ${response.status} instead of 200`)
    return await read(response.body)
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.code !== 'PAGE_MALFORMED' || explanation === undefined)
      throw thrown
    const { what, fix } = explanation
    throw new ExportError('PAGE_MALFORMED', what, { fix, isPermanent: true })
  }
}

type ErrorContext = {
  /** Names the request, without key and query. */
  description: string
  mayHaveActed: boolean
  hasResponded: boolean
  redactKey: Client['redactKey']
  keyIn: Client['keyIn']
}

/**
 * Adds the request's description to an error. Once the service has responded, the fix of the error table replaces
 * connection advice.
 */
function withRequestContext(
  error: ExportError,
  { description, mayHaveActed, hasResponded, redactKey, keyIn }: ErrorContext,
): ExportError {
  const fix = fixFor(error, { hasResponded, redactKey, keyIn })
  const { retryAfterMs, status } = error
  // The SyntaxError of JSON.parse quotes the body.
  const cause = error.cause instanceof SyntaxError ? undefined : error.cause
  const suffix = mayHaveActed ? '; it may have taken effect' : ''
  return new ExportError(error.code, redactKey(`${description}: ${error.message}${suffix}`), {
    fix: mayHaveActed ? 'Check whether the request took effect before you send it again.' : fix,
    cause,
    mayHaveActed,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}

function fixFor(
  error: ExportError,
  { hasResponded, redactKey, keyIn }: Pick<ErrorContext, 'hasResponded' | 'redactKey' | 'keyIn'>,
): string {
  if (error.code === 'KEY_REFUSED' && error.fix === error.failure.fix) return KEY_FIXES[keyIn ?? 'none']
  return hasResponded && isConnectionAdvice(error) ? error.failure.fix : redactKey(error.fix)
}

const NEW_KEY = 'set WALLETLAKE_API_KEY (or WALLETLAKE_API_KEY_FILE) to a key that the service accepts'
/** Fixes for a refused key by where it was sent. */
const KEY_FIXES = {
  none: 'No API key was sent: set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to the path of a file that holds it.',
  query: `The key was refused: ${NEW_KEY}.`,
  header: `The key was refused: ${NEW_KEY}, and service.apiKeyHeader to the header that it reads.`,
}

/** Whether the fix assumes that the URL, the connection or a proxy is wrong. */
function isConnectionAdvice({ code, status, isPermanent }: ExportError): boolean {
  return code === 'SERVICE_UNAVAILABLE' || isPermanent || (code === 'REQUEST_REFUSED' && !hasOwnFix(status))
}

/** An event of a request, for the progress display and the run report. */
export type RequestEvent =
  | ({ kind: 'sent' } & RequestLine)
  | { kind: 'received'; bytes: number }
  | ({ kind: 'throttled'; waitMs: number } & RequestedWait)
  /** A successful response that used up the quota. */
  | ({ kind: 'paused' } & RequestedWait)
  | ({ kind: 'retried'; reason: string; failures: number } & RequestedWait)

/** A request that is about to be sent; the path without the query. */
export type RequestLine = { method: ClientRequest['method']; path: string }

/** The delay that the service requests, in milliseconds; undefined if it states none. */
type RequestedWait = { requestedWaitMs?: number | undefined }

/** The delay that the service requests with this event, in milliseconds; undefined if there is none. */
export function requestedWait(event: RequestEvent): number | undefined {
  return 'requestedWaitMs' in event ? event.requestedWaitMs : undefined
}

/** Describes a 429 or a retry for the log; undefined for other events. */
export function describeRequest(event: RequestEvent): string | undefined {
  if (event.kind === 'throttled') return `429, all requests pause for ${Math.ceil(event.waitMs)} ms`
  return event.kind === 'retried' ? `retrying: ${event.reason}` : undefined
}
