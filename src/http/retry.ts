/** When and how long to wait before a request is asked again. Pure: the dice and the clock are passed in. */

/** How often and how soon a request is asked again after a fault. */
export type RetryOptions = {
  /** Tries after the first, for faults other than 429. @default 7 */
  retries?: number
  /** Upper bound of the wait before the second try, in milliseconds; it doubles from there. @default 500 */
  firstDelayMs?: number
  /** No wait without Retry-After is longer, in milliseconds. @default 30000 */
  maxDelayMs?: number
}

export const RETRY_DEFAULTS = {
  retries: 7,
  firstDelayMs: 500,
  maxDelayMs: 30_000,
} as const satisfies Required<RetryOptions>

export type Failures = {
  /** How many tries have failed, at least 1. */
  failures: number
  /** What the service asked for, in milliseconds. */
  retryAfterMs: number | undefined
}

/** Milliseconds to wait: as told, or exponential with full jitter. `dice` gives a number in [0, 1). */
export function delayBeforeRetry(
  { failures, retryAfterMs }: Failures,
  limits: Required<RetryOptions>,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const maxMs = Math.min(limits.maxDelayMs, limits.firstDelayMs * 2 ** (failures - 1))
  return Math.round(maxMs * random())
}

/** Milliseconds that a Retry-After header asks for (seconds or an HTTP date); undefined where it says nothing usable. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  // Date.parse takes "-1" for a day in 2001: only what has a time of day is a date. Without a zone it is UTC.
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const date = Date.parse(/\d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
