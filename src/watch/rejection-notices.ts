/** Minimum time between two notices with the same status, in milliseconds, because anybody can cause them. */
const NOTICE_INTERVAL_MS = 60_000

type RejectedRequest = { status: number; reason: string }

/**
 * Creates a function that describes rejected requests at most once per minute and status, and otherwise returns
 * undefined.
 */
export function createRejectionNotices(now: () => number): (rejected: RejectedRequest) => string | undefined {
  const last = new Map<number, { at: number; suppressed: number }>()
  return ({ status, reason }) => {
    const previous = last.get(status)
    if (previous !== undefined && now() < previous.at + NOTICE_INTERVAL_MS) {
      previous.suppressed += 1
      return undefined
    }
    last.set(status, { at: now(), suppressed: 0 })
    const more =
      previous === undefined || previous.suppressed === 0
        ? ''
        : `; ${previous.suppressed} more since the last notice`
    return `a request to the receiver was rejected with ${status}: ${reason}${more}`
  }
}
