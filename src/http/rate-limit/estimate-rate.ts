import { countGrants, type Stretch, storeDrawn } from './sample-window.ts'

export type Evidence = {
  /** The stretch that a refusal has just ended. */
  stretch: Stretch
  /** Those before it that began with a full store. */
  earlier: readonly Stretch[]
  /** Requests a millisecond when the refusal came: the quota gives less. Undefined for the first refusal. */
  peak: number | undefined
  /** How long nothing could leave after the stretch's end. */
  pausedMs: number
  /** How long the refusal took to come: a shorter stretch says nothing of a rate. */
  tripMs: number
}

/** `perMs`: requests a millisecond. `full`: the store was full as the stretch began. */
export type Estimate = { perMs: number; least: number }

/** Counts come in whole requests: two stores that differ by less are the same. */
const SLACK = 0.5
/** Rates are tried in steps of one percent. */
const STEP = 1.01

/**
 * The rate of a quota, seen from a refusal.
 *
 * Every service has a store of requests that fills at the quota's rate: a bucket, or the window that is open. What a
 * stretch was granted came from the store and from what came back meanwhile; so its grants, over stretch and pause,
 * are the least that the rate can be. It is more where the store was full and ran over during the pause: then it is
 * the lowest rate that needs no bigger store than earlier stretches needed. The first refusal has no earlier one and
 * could mean any store: halfway, in proportion, between that least and the most, which is nothing in store.
 */
export function estimateRate({ stretch, earlier, peak, pausedMs, tripMs }: Evidence): Estimate {
  const lengthMs = Math.max(stretch.end - stretch.since, tripMs)
  const grants = countGrants(stretch)
  const least = grants / (lengthMs + Math.min(stretch.restedMs, pausedMs))
  if (peak === undefined) return { perMs: Math.sqrt((least * grants) / lengthMs), least: 0 }
  let perMs = least
  while (perMs < peak && storeDrawn(stretch, perMs) > smallestStore(earlier, perMs) + SLACK) perMs *= STEP
  return { perMs, least: least * STEP }
}

function smallestStore(earlier: readonly Stretch[], perMs: number): number {
  return Math.min(...earlier.map((stretch) => storeDrawn(stretch, perMs)))
}
