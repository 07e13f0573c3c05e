import { ExportError } from '../core/model/errors.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'

/** Maximum delay that the service may request (ms). A daily quota is renewed within it. */
export const MAX_WAIT_MS = 24 * 3_600_000
/** Delays from this length (ms) on are announced to the user. */
export const LONG_WAIT_MS = 60_000
/**
 * Ends of delays that differ by less than this (ms) count as one: the requests in flight receive their 429s
 * one after the other.
 */
const SAME_END_MS = 60_000

/** The error for a requested delay above `MAX_WAIT_MS`. */
export function waitTooLongError(waitMs: number): ExportError {
  const end = formatMinuteCeil(Date.now() + waitMs)
  const hours = MAX_WAIT_MS / 3_600_000
  return new ExportError('RATE_LIMITED', `the service asks to wait until ${end}, more than ${hours} hours`, {
    fix: `Ask the provider about the quota of the key, or run the same command again after ${end}: it resumes.`,
  })
}

/**
 * Creates a function that returns a notice about a long delay: once for each end, and undefined for short
 * delays.
 */
export function createWaitAnnouncer(): (waitMs: number) => string | undefined {
  let announcedEnd = 0
  return (waitMs) => {
    const end = Date.now() + waitMs
    if (waitMs < LONG_WAIT_MS || waitMs > MAX_WAIT_MS || end < announcedEnd + SAME_END_MS) return undefined
    announcedEnd = end
    return `the service asks to wait until ${formatMinuteCeil(end)}; no request is sent until then`
  }
}
