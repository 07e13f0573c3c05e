/** Retry delays. Pure functions: clock and randomness are passed in. */

/** How often and how soon failed requests are retried. */
export type RetryOptions = {
  /** Retries after the first attempt, for errors other than 429. @default 7 */
  retries?: number
  /**
   * Upper bound of the delay before the first retry, in milliseconds; it doubles with each further one.
   * @default 500
   */
  firstDelayMs?: number
  /** Maximum delay in milliseconds. Retry-After may exceed it. @default 30000 */
  maxDelayMs?: number
}

export const RETRY_DEFAULTS = {
  retries: 7,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
} as const satisfies Required<RetryOptions>

export type Failures = {
  /** Failed attempts so far, at least 1. */
  failures: number
  /** The delay that the API requested, in milliseconds. */
  retryAfterMs: number | undefined
}

/**
 * The delay before the next attempt, in milliseconds: `retryAfterMs` if given, otherwise exponential backoff
 * with full jitter, random() × min(maxDelayMs, firstDelayMs × 2^(failures − 1)).
 *
 * @param random returns a number in [0, 1)
 */
export function delayBeforeRetry(
  { failures, retryAfterMs }: Failures,
  limits: Required<RetryOptions>,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const maxMs = Math.min(limits.maxDelayMs, limits.firstDelayMs * 2 ** (failures - 1))
  return Math.round(maxMs * random())
}

/**
 * Parses a Retry-After header (seconds or an HTTP date) into milliseconds from `now`; undefined if it is
 * invalid.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  // Date.parse reads "-1" as a day in 2001, so a date must contain a time of day. Without a zone it is
  // UTC.
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const date = Date.parse(/\d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
