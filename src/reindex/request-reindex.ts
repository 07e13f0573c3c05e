import { type ExportError, toExportError } from '../core/model/errors.ts'
import { LONGEST_WAIT_MS, type Memory } from './request-log.ts'
import type { Answer, Token } from './token.ts'

export type AskTools = {
  /** Orders a token's metadata to be read again; rejects with an ExportError. */
  reindex: (token: Token) => Promise<void>
  /** Resolves after this long, in milliseconds; at once where the work is to end. */
  wait: (ms: number) => Promise<void>
  remember: Memory['remember']
  /** Unix milliseconds. */
  now: () => number
  /** How many are asked at once. */
  concurrency: number
}

export type AskedCounts = Record<Exclude<Answer, 'asked' | 'unsent'>, number>
export type AskResult = {
  counts: AskedCounts
  /** The first tokens that the service does not know (404) or refuses (400), with what it said. */
  told: string[]
  /** What ended it early; undefined: every token was asked. */
  error: ExportError | undefined
}

const HOUR_MS = 3_600_000
const TOLD = 20

/**
 * Asks for each token once. That it is asked is remembered before, and what came of it after: whenever the process
 * ends, no token is asked twice in an hour. A token's own limit (429), an unknown token (404) and a refused one (400)
 * are no errors; anything else ends it, and what is in flight is waited for.
 */
export async function askTokens(
  tokens: AsyncGenerator<Token, void, void>,
  tools: AskTools,
): Promise<AskResult> {
  const counts = { accepted: 0, limited: 0, unknown: 0, refused: 0 }
  const result: AskResult = { counts, told: [], error: undefined }
  const pause: Pause = { over: Promise.resolve() }
  const work = async () => {
    while (result.error === undefined) {
      await pause.over
      const { value: token, done } = await tokens.next()
      if (done || result.error !== undefined) return
      await askOne(token, { tools, result, pause })
    }
  }
  const failed = (thrown: unknown) => {
    result.error ??= toExportError(thrown)
  }
  await Promise.all(Array.from({ length: tools.concurrency }, () => work().catch(failed)))
  return result
}

/** No request before it is over. */
type Pause = { over: Promise<void> }
type Asking = { tools: AskTools; result: AskResult; pause: Pause }

async function askOne(token: Token, { tools, result, pause }: Asking): Promise<void> {
  const atMs = tools.now()
  const remember = (answer: Answer, waitMs = HOUR_MS) => {
    const untilMs = answer === 'unsent' ? atMs : tools.now() + Math.min(waitMs, LONGEST_WAIT_MS)
    return tools.remember({ ...token, answer, atMs, untilMs })
  }
  await remember('asked')
  try {
    await tools.reindex(token)
    result.counts.accepted += 1
    await remember('accepted')
  } catch (thrown) {
    const error = toExportError(thrown)
    const answer = answerOf(error)
    if (answer === undefined) {
      result.error ??= error
      if (error.code === 'BUDGET_REACHED' && !error.mayHaveActed) await remember('unsent')
      return
    }
    result.counts[answer] += 1
    if (answer === 'limited') pauseInDoubt(error, { tools, pause })
    else if (result.told.length < TOLD) result.told.push(error.message)
    await remember(answer, error.retryAfterMs)
  }
}

function answerOf({ code, status }: ExportError): keyof AskedCounts | undefined {
  if (code === 'RATE_LIMITED') return 'limited'
  if (code !== 'REQUEST_REFUSED') return undefined
  return status === 404 ? 'unknown' : 'refused'
}

/** A short wait, or none said, may be the quota's and not the token's: going on at once could get a caller blocked. */
function pauseInDoubt(
  { retryAfterMs }: ExportError,
  { tools, pause }: Pick<Asking, 'tools' | 'pause'>,
): void {
  if ((retryAfterMs ?? 0) > SHORT_WAIT_MS) return
  const wait = tools.wait(retryAfterMs ?? IN_DOUBT_MS)
  pause.over = Promise.all([pause.over, wait]).then(() => {})
}

const SHORT_WAIT_MS = 60_000
const IN_DOUBT_MS = 1_000
