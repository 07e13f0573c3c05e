import { ExportError } from '../core/model/errors.ts'
import { formatMinuteCeil } from '../core/model/utc.ts'

/** Longest wait that the service may ask for: a daily quota is renewed within it. */
export const MAX_WAIT_MS = 24 * 3_600_000
/** A wait of so long is announced with its end. */
export const LONG_WAIT_MS = 60_000
/** Ends of waits that differ by less are the same: each of many requests in flight is refused a moment later. */
const SAME_END_MS = 60_000

/** The error of a wait that is longer than `MAX_WAIT_MS`. */
export function waitTooLongError(waitMs: number): ExportError {
  const end = formatMinuteCeil(Date.now() + waitMs)
  const hours = MAX_WAIT_MS / 3_600_000
  return new ExportError('RATE_LIMITED', `the service asks to wait until ${end}, more than ${hours} hours`, {
    fix: `Ask the provider about the quota of the key, or run the same command again after ${end}: it resumes.`,
  })
}

/** Makes a function that describes a long wait once: undefined for short ones, and for those with the same end. */
export function createWaitAnnouncer(): (waitMs: number) => string | undefined {
  let announcedEnd = 0
  return (waitMs) => {
    const end = Date.now() + waitMs
    if (waitMs < LONG_WAIT_MS || waitMs > MAX_WAIT_MS || end < announcedEnd + SAME_END_MS) return undefined
    announcedEnd = end
    return `the service asks to wait until ${formatMinuteCeil(end)}; no request is sent before`
  }
}
