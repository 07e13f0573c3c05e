import { setTimeout as wait } from 'node:timers/promises'
import pRetry from 'p-retry'
import { ExportError, toExportError } from '../core/model/errors.ts'
import { LONGEST_TIMER_MS } from '../core/platform/max-timeout.ts'
import type { RequestEvent } from '../http/request-events.ts'
import { type Asked, isWebPage, WEB_PAGE_FIX } from './endpoint-hints.ts'
import type { Answer, Client, ClientRequest } from './http-client.ts'
import { refusal } from './http-status-error.ts'
import type { GateOutcome } from './rate-limit/limiter-state.ts'
import type { Gate } from './rate-limit/rate-limiter.ts'
import { clockAhead, readOutcome, readRemaining } from './read-outcome.ts'
import { delayBeforeRetry, RETRY_DEFAULTS, type RetryOptions } from './retry.ts'
import { LONGEST_WAIT_MS, waitTooLong } from './wait-limits.ts'

/** How a service stands, changed in place: after a first good answer every fault may heal. */
type Standing = {
  hasAnswered: boolean
  /** Why the newest tries failed; undefined while all is well. */
  trouble: string | undefined
  /** Milliseconds by which its clock is ahead of this machine's; undefined where it does not say. */
  aheadMs?: number | undefined
}

export type Requester = {
  client: Client
  gate: Gate
  /** Holds the number of requests in flight within the run's concurrency. */
  limit: <T>(task: () => Promise<T>) => Promise<T>
  retry?: RetryOptions
  signal: AbortSignal
  /** Without it, a service counts as one that has answered. */
  standing?: Standing
  /** Called before each try; throws BUDGET_REACHED when none may be sent any more. */
  onEvent: (event: RequestEvent) => void
}

/** One request, and what may be done when it fails. */
export type Ask = ClientRequest & {
  /** Names the request in errors, without key and query. */
  about: string
  /**
   * Never sent again where an earlier try may have been carried out: the request is not idempotent. 429, a 503 with
   * Retry-After and a connection that could not be made say that it was not; anything else ends the request.
   */
  once?: boolean
  /** 429 may mean a limit of the asked thing: it is waited out only where the answer says that the quota is spent. */
  ownLimit?: boolean
  /** Errors that the caller handles by another request: they are thrown at once instead of being retried. */
  handles?: (error: ExportError) => boolean
}

/** What is made of an answer's body. Throws PAGE_MALFORMED where it is not what was asked for. */
export type ReadBody<T> = (body: Buffer) => T | Promise<T>

/**
 * Asks until a whole, well-formed answer is there and gives what `read` makes of its body. 429 is waited out for as
 * long as it takes; faults and malformed bodies are tried again a bounded number of times; 400, 401, 403, 404 throw
 * at once. Before the first good answer, what no try can heal ends after three. The error of a request that changes something
 * says whether any try may have been carried out.
 */
export async function request<T>(requester: Requester, ask: Ask, read: ReadBody<T>): Promise<T> {
  const limits = { ...RETRY_DEFAULTS, ...requester.retry }
  let failures = 0
  let mayHaveActed = false
  return pRetry(() => untilAdmitted(requester, ask, read), {
    retries: limits.retries,
    minTimeout: 0,
    maxTimeout: 0,
    signal: requester.signal,
    shouldRetry: ({ error, attemptNumber }) =>
      mayRepeat(ask, error) && !isHopeless(requester, error, attemptNumber),
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      mayHaveActed ||= ask.method !== 'GET' && isInDoubt(error)
      if (retriesLeft === 0 || !mayRepeat(ask, error) || isHopeless(requester, error, attemptNumber)) return
      failures += 1
      const reason = requester.client.hideKey(error.message)
      if (requester.standing !== undefined) requester.standing.trouble = reason
      const { retryAfterMs } = error
      requester.onEvent({ kind: 'retried', reason, failures, askedMs: retryAfterMs })
      requireReasonable(retryAfterMs)
      await sleep(delayBeforeRetry({ failures, retryAfterMs }, limits, Math.random), requester.signal)
    },
  }).catch((thrown: unknown) => {
    requester.signal.throwIfAborted()
    const hasAnswered = requester.standing?.hasAnswered ?? true
    const { hideKey } = requester.client
    throw withPlace(toExportError(thrown), { about: ask.about, mayHaveActed, hasAnswered, hideKey })
  })
}

/** Whether what failed so often cannot heal: it takes more than a try, but the service never gave a good answer. */
function isHopeless({ standing }: Requester, error: ExportError, tries: number): boolean {
  return error.isPermanent && standing?.hasAnswered === false && tries >= PERMANENT_TRIES
}

/** Tries for what cannot heal: a host's name may be known a moment later, and a portal's page may go. */
const PERMANENT_TRIES = 3

function mayRepeat({ once = false, handles }: Ask, error: Error): error is ExportError {
  if (!(error instanceof ExportError) || !error.failure.retry || error.code === 'RATE_LIMITED') return false
  if (handles?.(error)) return false
  return !(once && isInDoubt(error))
}

/** Whether the request may have been carried out: its answer was lost, unreadable, or a fault behind the door. */
function isInDoubt(error: Error): boolean {
  if (!(error instanceof ExportError)) return true
  const { code, status, retryAfterMs } = error
  if (code === 'PAGE_MALFORMED') return true
  if (code !== 'SERVICE_UNAVAILABLE') return false
  if (status === undefined) return error.mayHaveActed
  return status >= 500 && !(status === 503 && retryAfterMs !== undefined)
}

/** Asks until the quota lets the request in. */
async function untilAdmitted<T>(requester: Requester, ask: Ask, read: ReadBody<T>): Promise<T> {
  for (;;) {
    const admitted = await requester.limit(() => tryOnce(requester, ask, read))
    if (admitted !== undefined) return admitted.value
  }
}

/** Asks once; undefined where the quota refused it and the gate holds everything back. */
async function tryOnce<T>(
  requester: Requester,
  ask: Ask,
  read: ReadBody<T>,
): Promise<{ value: T } | undefined> {
  const settle = await requester.gate.take(requester.signal)
  const answer = await send(requester, ask).catch((thrown: unknown) => {
    settle({ kind: 'failed', retryAfterMs: undefined })
    throw thrown
  })
  const outcome = readAdmission(ask, answer)
  settle(outcome)
  try {
    return await readAdmitted(requester, ask, { answer, outcome, read })
  } finally {
    answer.release?.()
  }
}

type Admitted<T> = { answer: Answer; outcome: GateOutcome; read: ReadBody<T> }

async function readAdmitted<T>(
  requester: Requester,
  ask: Ask,
  { answer, outcome, read }: Admitted<T>,
): Promise<{ value: T } | undefined> {
  if (outcome.kind === 'refused') {
    const { retryAfterMs } = outcome
    requester.onEvent({ kind: 'refused', waitMs: requester.gate.pausedMs(), askedMs: retryAfterMs })
    requireReasonable(retryAfterMs)
    return undefined
  }
  if (outcome.kind === 'granted' && requester.gate.pausedMs() > 0)
    requester.onEvent({ kind: 'held', askedMs: requester.gate.pausedMs() })
  const asked = { baseUrl: requester.client.baseUrl, path: ask.pathAndQuery.replace(/\?.*$/s, '') }
  if (answer.status < 200 || answer.status > 299) throw refusal(answer, requester.client, asked)
  const value = await readAnswer(answer, asked, read)
  const aheadMs = clockAhead(answer.headers, Date.now())
  if (requester.standing)
    Object.assign(requester.standing, { hasAnswered: true, trouble: undefined, aheadMs })
  return { value }
}

/** What `read` makes of a good answer; a web page in its place is named as such. */
async function readAnswer<T>(answer: Answer, { baseUrl, path }: Asked, read: ReadBody<T>): Promise<T> {
  // Whoever reads the body may hand it to another thread: then it is gone here.
  const isWeb = isWebPage(answer)
  try {
    return await read(answer.body)
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.code !== 'PAGE_MALFORMED' || !isWeb) throw thrown
    const what = `a web page answers at ${baseUrl}${path}`
    throw new ExportError('PAGE_MALFORMED', what, { fix: WEB_PAGE_FIX, isPermanent: true })
  }
}

async function send(requester: Requester, ask: Ask): Promise<Answer> {
  requester.onEvent({ kind: 'sent' })
  const answer = await requester.client.send(ask, requester.signal)
  requester.onEvent({ kind: 'answered', bytes: answer.body.length })
  return answer
}

/** Throws RATE_LIMITED where the service asks to wait beyond all reason. */
function requireReasonable(askedMs = 0): void {
  if (askedMs > LONGEST_WAIT_MS) throw waitTooLong(askedMs)
}

/** What the answer says of the quota; a limit of the asked thing's own says nothing of it. */
function readAdmission(ask: Ask, answer: Answer): GateOutcome {
  const outcome = readOutcome(answer)
  const own = outcome.kind === 'refused' && ask.ownLimit && isOwnLimit(answer, outcome.retryAfterMs)
  return own ? { kind: 'failed', retryAfterMs: undefined } : outcome
}

/** Not the quota's 429: it does not say that nothing is left, or asks for longer than a quota of minutes would. */
function isOwnLimit({ headers }: Answer, waitMs = 0): boolean {
  return readRemaining(headers) !== 0 || waitMs > LONGEST_QUOTA_WAIT_MS
}

const LONGEST_QUOTA_WAIT_MS = 60_000

type Place = { about: string; mayHaveActed: boolean; hasAnswered: boolean; hideKey: Client['hideKey'] }

/** The error with the request's name; once the service has answered, the table's advice is the better one. */
function withPlace(error: ExportError, { about, mayHaveActed, hasAnswered, hideKey }: Place): ExportError {
  const fix = hasAnswered ? error.failure.fix : hideKey(error.fix)
  const { retryAfterMs, status } = error
  // What JSON.parse throws quotes the body.
  const cause = error.cause instanceof SyntaxError ? undefined : error.cause
  const doubt = mayHaveActed ? '; it may have been carried out' : ''
  return new ExportError(error.code, hideKey(`${about}: ${error.message}${doubt}`), {
    fix: mayHaveActed ? 'See whether the service did it before asking again.' : fix,
    cause,
    mayHaveActed,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}

/** Waits so long, or until the signal is aborted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(Math.min(ms, LONGEST_TIMER_MS), undefined, { signal }).catch(() => undefined)
}
