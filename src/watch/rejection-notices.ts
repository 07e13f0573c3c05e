/** Between two lines about refusals with the same status, in milliseconds: anybody can cause them. */
const EVERY_MS = 60_000

type Refusal = { status: number; reason: string }

/** Makes a function that describes refused requests, at most once a minute for each status; undefined for the others. */
export function createRefusalNotices(now: () => number): (refusal: Refusal) => string | undefined {
  const last = new Map<number, { at: number; unnamed: number }>()
  return ({ status, reason }) => {
    const earlier = last.get(status)
    if (earlier !== undefined && now() < earlier.at + EVERY_MS) {
      earlier.unnamed += 1
      return undefined
    }
    last.set(status, { at: now(), unnamed: 0 })
    const more =
      earlier === undefined || earlier.unnamed === 0
        ? ''
        : `; ${earlier.unnamed} more since the last such line`
    return `a request to the receiver was refused with ${status}: ${reason}${more}`
  }
}
