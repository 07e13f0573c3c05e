import type { Answer } from './http-client.ts'
import type { GateOutcome } from './rate-limit/limiter-state.ts'
import { readRetryAfter } from './retry.ts'

type Headers = Answer['headers']

/** What an answer says to the quota gate. */
export function readOutcome({ status, headers }: Pick<Answer, 'status' | 'headers'>): GateOutcome {
  const retryAfterMs = readWait(headers)
  const resetMs = readReset(headers)
  if (status === 429) return { kind: 'refused', retryAfterMs: retryAfterMs ?? resetMs }
  if (isFault(status)) return { kind: 'failed', retryAfterMs }
  return { kind: 'granted', remaining: readRemaining(headers), resetMs }
}

/** Milliseconds that Retry-After asks to wait. */
export function readWait(headers: Headers): number | undefined {
  return readRetryAfter(headers['retry-after'], serviceTime(headers))
}

/** Requests that are left of the quota. */
export function readRemaining(headers: Headers): number | undefined {
  const remaining = headers['ratelimit-remaining']?.trim()
  return remaining !== undefined && /^\d+$/.test(remaining) ? Number(remaining) : undefined
}

/** Whether the same request may succeed when it is asked again. */
export function isFault(status: number): boolean {
  return status === 408 || status === 425 || status >= 500
}

/** Milliseconds by which the clock that dated an answer is ahead of ours; undefined where it has no date. */
export function clockAhead({ date }: Headers, now: number): number | undefined {
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? undefined : theirs - now
}

/** The time by the service's clock, where that is far from ours: the dates that it names are its own. */
function serviceTime({ date }: Headers): number {
  const theirs = Date.parse(date ?? '')
  return Math.abs(theirs - Date.now()) > LARGEST_DELAY_MS ? theirs : Date.now()
}

/** Dates come in whole seconds, and an answer may have been under way for so long. */
const LARGEST_DELAY_MS = 5_000

/** Milliseconds until the quota begins anew: seconds from now or, as some services have it, since 1970. */
function readReset(headers: Headers): number | undefined {
  const ms = readRetryAfter(headers['ratelimit-reset'], serviceTime(headers))
  return ms === undefined || ms < SINCE_1970_MS ? ms : Math.max(0, ms - serviceTime(headers))
}

/** Nobody is asked to wait for thirty years. */
const SINCE_1970_MS = 1e12
