import { setTimeout as wait } from 'node:timers/promises'
import pRetry from 'p-retry'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'
import type { RequestEvent } from '../http/request-events.ts'
import { isWebPage, type RequestedUrl, WEB_PAGE_FIX } from './endpoint-hints.ts'
import type { ApiResponse, Client, ClientRequest } from './http-client.ts'
import { httpStatusError } from './http-status-error.ts'
import type { RequestOutcome } from './rate-limit/limiter-state.ts'
import type { RateLimiter } from './rate-limit/rate-limiter.ts'
import { clockSkew, readOutcome, readRemaining } from './read-outcome.ts'
import { withRequestContext } from './request-error.ts'
import { delayBeforeRetry, RETRY_DEFAULTS, type RetryOptions } from './retry.ts'
import { MAX_WAIT_MS, waitTooLongError } from './wait-limits.ts'

/** How a service stands, changed in place: after a first good answer every fault may heal. */
type ServiceHealth = {
  hasResponded: boolean
  /** Why the newest tries failed; undefined while all is well. */
  lastError: string | undefined
  /** Milliseconds by which its clock is ahead of this machine's; undefined where it does not say. */
  aheadMs?: number | undefined
}

export type RequestContext = {
  client: Client
  rateLimiter: RateLimiter
  /** Holds the number of requests in flight within the run's concurrency. */
  limit: <T>(task: () => Promise<T>) => Promise<T>
  retry?: RetryOptions
  signal: AbortSignal
  /** Without it, a service counts as one that has answered. */
  health?: ServiceHealth
  /** Called before each try; throws BUDGET_REACHED when none may be sent any more. */
  onEvent: (event: RequestEvent) => void
}

/** One request, and what may be done when it fails. */
export type RequestSpec = ClientRequest & {
  /** Names the request in errors, without key and query. */
  label: string
  /**
   * Never sent again where an earlier try may have been carried out: the request is not idempotent. 429, a 503 with
   * Retry-After and a connection that could not be made say that it was not; anything else ends the request.
   */
  nonIdempotent?: boolean
  /** 429 may mean a limit of the asked thing: it is waited out only where the answer says that the quota is spent. */
  hasResourceLimit?: boolean
  /** Errors that the caller handles by another request: they are thrown at once instead of being retried. */
  isHandledByCaller?: (error: ExportError) => boolean
}

/** What is made of an answer's body. Throws PAGE_MALFORMED where it is not what was asked for. */
export type BodyReader<T> = (body: Buffer) => T | Promise<T>

/**
 * Asks until a whole, well-formed answer is there and gives what `read` makes of its body. 429 is waited out for as
 * long as it takes; faults and malformed bodies are tried again a bounded number of times; 400, 401, 403, 404 throw
 * at once. Before the first good answer, what no try can heal ends after three. The error of a request that changes something
 * says whether any try may have been carried out.
 */
export async function request<T>(
  context: RequestContext,
  spec: RequestSpec,
  read: BodyReader<T>,
): Promise<T> {
  const limits = { ...RETRY_DEFAULTS, ...context.retry }
  let failures = 0
  let mayHaveActed = false
  return pRetry(() => sendUntilAccepted(context, spec, read), {
    retries: limits.retries,
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
      await sleep(delayBeforeRetry({ failures, retryAfterMs }, limits, Math.random), context.signal)
    },
  }).catch((thrown: unknown) => {
    context.signal.throwIfAborted()
    const hasResponded = context.health?.hasResponded ?? true
    const { redactKey } = context.client
    throw withRequestContext(toExportError(thrown), {
      label: spec.label,
      mayHaveActed,
      hasResponded,
      redactKey,
    })
  })
}

/** Whether what failed so often cannot heal: it takes more than a try, but the service never gave a good answer. */
function isPermanentFailure({ health }: RequestContext, error: ExportError, attempts: number): boolean {
  return error.isPermanent && health?.hasResponded === false && attempts >= MAX_PERMANENT_ATTEMPTS
}

/** Tries for what cannot heal: a host's name may be known a moment later, and a portal's page may go. */
const MAX_PERMANENT_ATTEMPTS = 3

function isRetryable(
  { nonIdempotent = false, isHandledByCaller }: RequestSpec,
  error: Error,
): error is ExportError {
  if (!(error instanceof ExportError) || !error.failure.retry || error.code === 'RATE_LIMITED') return false
  if (isHandledByCaller?.(error)) return false
  return !(nonIdempotent && mayHaveBeenProcessed(error))
}

/** Whether the request may have been carried out: its answer was lost, unreadable, or a fault behind the door. */
function mayHaveBeenProcessed(error: Error): boolean {
  if (!(error instanceof ExportError)) return true
  const { code, status, retryAfterMs } = error
  if (code === 'PAGE_MALFORMED') return true
  if (code !== 'SERVICE_UNAVAILABLE') return false
  if (status === undefined) return error.mayHaveActed
  return status >= 500 && !(status === 503 && retryAfterMs !== undefined)
}

/** Asks until the quota lets the request in. */
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

/** Asks once; undefined where the quota refused it and the gate holds everything back. */
async function sendOnce<T>(
  context: RequestContext,
  spec: RequestSpec,
  read: BodyReader<T>,
): Promise<{ value: T } | undefined> {
  const recordOutcome = await context.rateLimiter.acquire(context.signal)
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
  const requested = { baseUrl: context.client.baseUrl, path: spec.pathAndQuery.replace(/\?.*$/s, '') }
  if (response.status < 200 || response.status > 299)
    throw httpStatusError(response, context.client, requested)
  const value = await readResponse(response, requested, read)
  const aheadMs = clockSkew(response.headers, Date.now())
  if (context.health) Object.assign(context.health, { hasResponded: true, lastError: undefined, aheadMs })
  return { value }
}

/** What `read` makes of a good answer; a web page in its place is named as such. */
async function readResponse<T>(
  response: ApiResponse,
  { baseUrl, path }: RequestedUrl,
  read: BodyReader<T>,
): Promise<T> {
  // Whoever reads the body may hand it to another thread: then it is gone here.
  const isHtml = isWebPage(response)
  try {
    return await read(response.body)
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.code !== 'PAGE_MALFORMED' || !isHtml) throw thrown
    const what = `a web page answers at ${baseUrl}${path}`
    throw new ExportError('PAGE_MALFORMED', what, { fix: WEB_PAGE_FIX, isPermanent: true })
  }
}

async function send(context: RequestContext, spec: RequestSpec): Promise<ApiResponse> {
  context.onEvent({ kind: 'sent' })
  const response = await context.client.send(spec, context.signal)
  context.onEvent({ kind: 'received', bytes: response.body.length })
  return response
}

/** Throws RATE_LIMITED where the service asks to wait beyond all reason. */
function requireAcceptableWait(requestedWaitMs = 0): void {
  if (requestedWaitMs > MAX_WAIT_MS) throw waitTooLongError(requestedWaitMs)
}

/** What the answer says of the quota; a limit of the asked thing's own says nothing of it. */
function readQuotaOutcome(spec: RequestSpec, response: ApiResponse): RequestOutcome {
  const outcome = readOutcome(response)
  const isResourceLimited =
    outcome.kind === 'throttled' && spec.hasResourceLimit && isResourceLimit(response, outcome.retryAfterMs)
  return isResourceLimited ? { kind: 'failed', retryAfterMs: undefined } : outcome
}

/** Not the quota's 429: it does not say that nothing is left, or asks for longer than a quota of minutes would. */
function isResourceLimit({ headers }: ApiResponse, waitMs = 0): boolean {
  return readRemaining(headers) !== 0 || waitMs > MAX_QUOTA_WAIT_MS
}

const MAX_QUOTA_WAIT_MS = 60_000

/** Waits so long, or until the signal is aborted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(Math.min(ms, MAX_TIMEOUT_MS), undefined, { signal }).catch(() => undefined)
}
