import type { ApiResponse } from './http-client.ts'
import type { RequestOutcome } from './rate-limit/limiter-state.ts'
import { parseRetryAfter } from './retry.ts'

type Headers = ApiResponse['headers']

/** What an answer says to the quota gate. */
export function readOutcome({ status, headers }: Pick<ApiResponse, 'status' | 'headers'>): RequestOutcome {
  const retryAfterMs = readRetryAfter(headers)
  const resetMs = readReset(headers)
  if (status === 429) return { kind: 'throttled', retryAfterMs: retryAfterMs ?? resetMs }
  if (isRetryableStatus(status)) return { kind: 'failed', retryAfterMs }
  return { kind: 'granted', remaining: readRemaining(headers), resetMs }
}

/** Milliseconds that Retry-After asks to wait. */
export function readRetryAfter(headers: Headers): number | undefined {
  return parseRetryAfter(headers['retry-after'], serviceTime(headers))
}

/** Requests that are left of the quota. */
export function readRemaining(headers: Headers): number | undefined {
  const remaining = headers['ratelimit-remaining']?.trim()
  return remaining !== undefined && /^\d+$/.test(remaining) ? Number(remaining) : undefined
}

/** Whether the same request may succeed when it is asked again. */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status >= 500
}

/** Milliseconds by which the clock that dated an answer is ahead of ours; undefined where it has no date. */
export function clockSkew({ date }: Headers, now: number): number | undefined {
  const serviceMs = Date.parse(date ?? '')
  return Number.isNaN(serviceMs) ? undefined : serviceMs - now
}

/** The time by the service's clock, where that is far from ours: the dates that it names are its own. */
function serviceTime({ date }: Headers): number {
  const serviceMs = Date.parse(date ?? '')
  return Math.abs(serviceMs - Date.now()) > MAX_RESPONSE_DELAY_MS ? serviceMs : Date.now()
}

/** Dates come in whole seconds, and an answer may have been under way for so long. */
const MAX_RESPONSE_DELAY_MS = 5_000

/** Milliseconds until the quota begins anew: seconds from now or, as some services have it, since 1970. */
function readReset(headers: Headers): number | undefined {
  const ms = parseRetryAfter(headers['ratelimit-reset'], serviceTime(headers))
  return ms === undefined || ms < EPOCH_THRESHOLD_MS ? ms : Math.max(0, ms - serviceTime(headers))
}

/** Nobody is asked to wait for thirty years. */
const EPOCH_THRESHOLD_MS = 1e12
