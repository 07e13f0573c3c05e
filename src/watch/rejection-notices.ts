/** Between two lines about refusals with the same status, in milliseconds: anybody can cause them. */
const NOTICE_INTERVAL_MS = 60_000

type RejectedRequest = { status: number; reason: string }

/** Makes a function that describes refused requests, at most once a minute for each status; undefined for the others. */
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
        : `; ${previous.suppressed} more since the last such line`
    return `a request to the receiver was refused with ${status}: ${reason}${more}`
  }
}
