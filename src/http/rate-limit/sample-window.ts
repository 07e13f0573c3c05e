/** A request that left: the `nth` of all. */
export type Departure = { nth: number; at: number }

/** The time from one pause to the next: when its requests left, and where it ended. All times in milliseconds. */
export type Stretch = {
  /** Number of its first request. */
  first: number
  since: number
  /** How long nothing had left before it: the quota may have recovered meanwhile. */
  restedMs: number
  /** When requests left: every `stride`th of them, so that a long stretch takes no more room than a short one. */
  departures: number[]
  stride: number
  left: number
  refused: number
  /** When the last request that was refused had left: the quota was used up then. */
  end: number
}

/** So many departures are kept at most; of a longer stretch every second, fourth… one. */
const MOST_DEPARTURES = 1_024

export function newStretch({
  first,
  since,
  restedMs,
}: Pick<Stretch, 'first' | 'since' | 'restedMs'>): Stretch {
  return { first, since, restedMs, departures: [], stride: 1, left: 0, refused: 0, end: since }
}

export function countDeparture(stretch: Stretch, now: number): void {
  if (stretch.left % stretch.stride === 0) stretch.departures.push(now)
  stretch.left += 1
  if (stretch.departures.length < MOST_DEPARTURES) return
  stretch.departures = stretch.departures.filter((_, at) => at % 2 === 0)
  stretch.stride *= 2
}

export function countRefusal(stretch: Stretch, { nth, at }: Departure): void {
  if (nth < stretch.first || nth >= stretch.first + stretch.left) return
  stretch.refused += 1
  stretch.end = Math.max(stretch.end, at)
}

/** Requests granted up to the end; what left later and was granted is of no use to a sum that ends there. */
export function countGrants({ departures, stride, left, refused, end }: Stretch): number {
  const late = departures.filter((at) => at > end).length * stride
  return Math.max(1, left - late - refused)
}

/**
 * How much the service must have had in store if it gives back `perMs` requests a millisecond: the most that was
 * granted beyond that in any time up to the end.
 */
export function storeDrawn(stretch: Stretch, perMs: number): number {
  const { departures, stride, end } = stretch
  const grants = countGrants(stretch)
  return departures.reduce((most, at, nth) => {
    return at > end ? most : Math.max(most, grants - nth * stride - perMs * (end - at))
  }, 0)
}
