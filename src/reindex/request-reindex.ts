import { type ExportError, toExportError } from '../core/model/errors.ts'
import type { ReindexOutcome, Token } from './request-log.ts'
import { MAX_WAIT_MS, type RequestLog } from './request-log.ts'

export type ReindexTools = {
  /** Requests that a token's metadata be indexed again. Rejects with an ExportError. */
  reindex: (token: Token) => Promise<void>
  /** Resolves after a delay in milliseconds, or at once when aborted. */
  wait: (ms: number) => Promise<void>
  record: RequestLog['append']
  /** Unix milliseconds. */
  now: () => number
  /** Number of concurrent requests. */
  concurrency: number
}

/** `unanswered`: requests that may have taken effect, although their response was lost. */
export type OutcomeCounts = Record<Exclude<ReindexOutcome, 'pending' | 'unsent'> | 'unanswered', number>
export type RequestResult = {
  counts: OutcomeCounts
  /** Messages about the first tokens that the service does not know (404) or refuses (400). */
  messages: string[]
  /** The error that stopped it early; undefined if every token was requested. */
  error: ExportError | undefined
}

const HOUR_MS = 3_600_000
const MAX_REPORTED = 20

/**
 * Requests each token once. The request is logged before it is sent and its outcome afterwards, so that no token is
 * requested twice within an hour, even if the process is killed. A token's own limit (429), an unknown token (404) and
 * a refused token (400) are not errors. Any other failure stops it after the requests in flight. One that proves that
 * nothing happened, such as a refused key, does not count as a request; a lost response does.
 */
export async function requestReindexOfAll(
  tokens: AsyncGenerator<Token, void, void>,
  tools: ReindexTools,
): Promise<RequestResult> {
  const counts = { accepted: 0, limited: 0, unknown: 0, refused: 0, unanswered: 0 }
  const result: RequestResult = { counts, messages: [], error: undefined }
  const pause: Pause = { ended: Promise.resolve() }
  const worker = async () => {
    while (result.error === undefined) {
      await pause.ended
      const { value: token, done: ended } = await tokens.next()
      if (ended || result.error !== undefined) return
      await requestReindex(token, { tools, result, pause })
    }
  }
  const failed = (error: unknown) => {
    result.error ??= toExportError(error)
  }
  await Promise.all(Array.from({ length: tools.concurrency }, () => worker().catch(failed)))
  return result
}

/** Requests wait until the pause ends. */
type Pause = { ended: Promise<void> }
type RequestingContext = { tools: ReindexTools; result: RequestResult; pause: Pause }

async function requestReindex(token: Token, { tools, result, pause }: RequestingContext): Promise<void> {
  const atMs = tools.now()
  const recordOutcome = (outcome: ReindexOutcome, waitMs = HOUR_MS) => {
    const untilMs = outcome === 'unsent' ? atMs : tools.now() + Math.min(waitMs, MAX_WAIT_MS)
    return tools.record({ ...token, answer: outcome, atMs, untilMs })
  }
  await recordOutcome('pending')
  try {
    await tools.reindex(token)
    result.counts.accepted += 1
    await recordOutcome('accepted')
  } catch (cause) {
    const error = toExportError(cause)
    const outcome = outcomeOf(error)
    if (outcome === undefined) {
      result.error ??= error
      if (error.mayHaveActed || INTERRUPTIONS.has(error.code)) result.counts.unanswered += 1
      else await recordOutcome('unsent')
      return
    }
    result.counts[outcome] += 1
    if (outcome === 'limited') pauseIfAmbiguous(error, { tools, pause })
    else if (result.messages.length < MAX_REPORTED) result.messages.push(error.message)
    await recordOutcome(outcome, error.retryAfterMs)
  }
}

/** A request that was interrupted may have been sent. */
const INTERRUPTIONS: ReadonlySet<string> = new Set(['INTERRUPTED', 'TERMINATED'])

function outcomeOf({ code, status }: ExportError): Exclude<keyof OutcomeCounts, 'unanswered'> | undefined {
  if (code === 'RATE_LIMITED') return 'limited'
  if (code !== 'REQUEST_REFUSED') return undefined
  return status === 404 ? 'unknown' : 'refused'
}

/**
 * Pauses all requests if a 429 may be caused by the quota instead of the token's own limit: `Retry-After` is short or
 * missing. Continuing at once could get the client blocked.
 */
function pauseIfAmbiguous(
  { retryAfterMs }: ExportError,
  { tools, pause }: Pick<RequestingContext, 'tools' | 'pause'>,
): void {
  if ((retryAfterMs ?? 0) > SHORT_WAIT_MS) return
  const wait = tools.wait(retryAfterMs ?? AMBIGUOUS_WAIT_MS)
  pause.ended = Promise.all([pause.ended, wait]).then(() => {})
}

const SHORT_WAIT_MS = 60_000
const AMBIGUOUS_WAIT_MS = 1_000
