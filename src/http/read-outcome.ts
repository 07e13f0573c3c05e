import type { ApiResponse } from './http-client.ts'
import type { RequestOutcome } from './rate-limit/limiter-state.ts'

type Headers = ApiResponse['headers']

/** Derives the outcome of a request for the rate limiter from its response. */
export function readOutcome({ status, headers }: Pick<ApiResponse, 'status' | 'headers'>): RequestOutcome {
  const retryAfterMs = readRetryAfter(headers)
  const resetMs = readReset(headers)
  if (status === 429) return { kind: 'throttled', retryAfterMs: retryAfterMs ?? resetMs }
  if (isRetryableStatus(status)) return { kind: 'failed', retryAfterMs }
  return { kind: 'granted', remaining: readRemaining(headers), resetMs }
}

/** The delay of Retry-After, in milliseconds. */
export function readRetryAfter(headers: Headers): number | undefined {
  return parseRetryAfter(headers['retry-after'], serviceTime(headers))
}

/** The remaining quota, in requests; undefined if the header is missing or not a number. */
export function readRemaining(headers: Headers): number | undefined {
  const remaining = headers['ratelimit-remaining']?.trim()
  return remaining !== undefined && /^\d+$/.test(remaining) ? Number(remaining) : undefined
}

/** Whether the same request may succeed later. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status >= 500
}

/**
 * How far the server's clock is ahead of this machine's, in milliseconds; undefined without a Date header.
 */
export function clockSkew({ date }: Headers, now: number): number | undefined {
  const serviceMs = Date.parse(date ?? '')
  return Number.isNaN(serviceMs) ? undefined : serviceMs - now
}

/**
 * The current time for dates in the headers: by the server's clock if it differs much from this machine's,
 * because its dates refer to its own clock.
 */
function serviceTime({ date }: Headers): number {
  const serviceMs = Date.parse(date ?? '')
  return Math.abs(serviceMs - Date.now()) > MAX_RESPONSE_DELAY_MS ? serviceMs : Date.now()
}

/**
 * Clock differences up to this (ms) are ignored: dates have a resolution of one second, and a response takes
 * time to arrive.
 */
const MAX_RESPONSE_DELAY_MS = 5_000

/**
 * Milliseconds until the quota resets. The header holds seconds from now or, with some APIs, Unix seconds.
 */
function readReset(headers: Headers): number | undefined {
  const ms = parseRetryAfter(headers['ratelimit-reset'], serviceTime(headers))
  return ms === undefined || ms < EPOCH_THRESHOLD_MS ? ms : Math.max(0, ms - serviceTime(headers))
}

/** Delays above this (ms, 30 years) are Unix timestamps. */
const EPOCH_THRESHOLD_MS = 1e12

/**
 * Parses a Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now - milliseconds since 1970.
 * @returns milliseconds to wait; undefined if the header is absent or has neither form.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  // Date.parse reads "-1" as a day in 2001, so only text with a time of day is a date. Without a zone it is UTC.
  if (!/\d\d:\d\d:\d\d/.test(text)) return undefined
  const date = Date.parse(/\d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
