import pRetry from 'p-retry'
import { ExportError, toExportError } from '../errors.ts'
import type { Answer, Client } from './client.ts'
import type { Gate } from './gate.ts'
import { delayBeforeRetry, RETRY_DEFAULTS, type RetryOptions, readRetryAfter } from './retry.ts'

/** What happened to a request, for progress and the run's report. */
export type RequestEvent =
  | { kind: 'sent' }
  | { kind: 'answered'; bytes: number }
  | { kind: 'refused'; waitMs: number }
  | { kind: 'retried'; reason: string }

export type Asker = {
  client: Client
  gate: Gate
  /** Holds the number of requests in flight within the run's concurrency. */
  limit: <T>(task: () => Promise<T>) => Promise<T>
  retry?: RetryOptions
  signal: AbortSignal
  /** Called before each try; throws BUDGET_REACHED when none may be sent any more. */
  onEvent: (event: RequestEvent) => void
}

/**
 * Asks until a whole, well-formed answer is there and gives what `read` makes of its body. 429 is waited out for as
 * long as it takes; faults and malformed bodies are tried again a bounded number of times; 400, 401, 403, 404 throw
 * at once. `about` names the request in errors, without key and query.
 */
export async function requestPage<T>(
  asker: Asker,
  path: { pathAndQuery: string; about: string },
  read: (body: Buffer) => T,
): Promise<T> {
  const limits = { ...RETRY_DEFAULTS, ...asker.retry }
  let failures = 0
  return pRetry(() => asker.limit(() => tryOnce(asker, path, read)), {
    retries: limits.retries,
    minTimeout: 0,
    maxTimeout: 0,
    signal: asker.signal,
    shouldRetry: ({ error }) => error instanceof ExportError && error.failure.retry,
    shouldConsumeRetry: ({ error }) => !(error instanceof ExportError && error.code === 'RATE_LIMITED'),
    onFailedAttempt: async ({ error, retriesLeft }) => {
      if (!(error instanceof ExportError) || !error.failure.retry || error.code === 'RATE_LIMITED') return
      if (retriesLeft === 0) return
      failures += 1
      asker.onEvent({ kind: 'retried', reason: error.message })
      await sleep(
        delayBeforeRetry({ failures, retryAfterMs: error.retryAfterMs }, limits, Math.random),
        asker.signal,
      )
    },
  }).catch((thrown: unknown) => {
    asker.signal.throwIfAborted()
    throw withPlace(toExportError(thrown), path.about)
  })
}

async function tryOnce<T>(
  asker: Asker,
  { pathAndQuery }: { pathAndQuery: string },
  read: (body: Buffer) => T,
): Promise<T> {
  await asker.gate.take(asker.signal)
  const takenMs = Date.now()
  asker.onEvent({ kind: 'sent' })
  const answer = await asker.client.get(pathAndQuery, asker.signal)
  asker.onEvent({ kind: 'answered', bytes: answer.body.length })
  const retryAfterMs = readRetryAfter(answer.headers['retry-after'], Date.now())
  if (answer.status === 429) {
    const asked = retryAfterMs ?? readRetryAfter(answer.headers['ratelimit-reset'], Date.now())
    asker.gate.refused({ takenMs, retryAfterMs: asked })
    asker.onEvent({ kind: 'refused', waitMs: asker.gate.pausedMs() })
    throw new ExportError('RATE_LIMITED', 'the service answered 429 Too Many Requests', { status: 429 })
  }
  asker.gate.granted(readRateState(answer.headers))
  if (answer.status !== 200) throw refusal(answer, retryAfterMs, asker)
  return read(answer.body)
}

function readRateState(headers: Record<string, string>) {
  const remaining = headers['ratelimit-remaining']
  return {
    remaining: remaining !== undefined && /^\d+$/.test(remaining) ? Number(remaining) : undefined,
    resetMs: readRetryAfter(headers['ratelimit-reset'], Date.now()),
  }
}

function refusal({ status, body }: Answer, retryAfterMs: number | undefined, asker: Asker): ExportError {
  if (status >= 500 && retryAfterMs !== undefined) asker.gate.refused({ takenMs: undefined, retryAfterMs })
  const what = `the service answered ${status}${serviceMessage(body, asker.client)}`
  const about = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  if (status === 401 || status === 403) return new ExportError('KEY_REFUSED', what, about)
  if (status === 408 || status === 425 || status >= 500)
    return new ExportError('SERVICE_UNAVAILABLE', what, about)
  if (status < 300) return new ExportError('PAGE_MALFORMED', what, about)
  return new ExportError('REQUEST_REFUSED', what, about)
}

/** The `message` of an error body (a string or a list of them), short and without control characters. */
function serviceMessage(body: Buffer, { hideKey }: Client): string {
  if (body.length > 100_000) return ''
  try {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: unknown }
    const text = Array.isArray(message) ? message.join('; ') : message
    if (typeof text !== 'string') return ''
    return `: ${hideKey(text)
      .replace(/[^\x20-\x7e…]+/g, ' ')
      .replace(/\?\S+/g, '?…')
      .slice(0, 300)}`
  } catch {
    return ''
  }
}

function withPlace(error: ExportError, about: string): ExportError {
  const { fix, retryAfterMs, status, cause } = error
  return new ExportError(error.code, `${about}: ${error.message}`, {
    fix,
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  })
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, LONGEST_TIMER_MS))
    signal.addEventListener('abort', done)
  })
}

/** Timers beyond 2^31 ms fire at once; what remains of such a wait is the gate's. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
