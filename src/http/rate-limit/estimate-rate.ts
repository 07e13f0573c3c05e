import { burstUsed, countGrants, type SampleWindow } from './sample-window.ts'

export type RateEvidence = {
  /** The stretch that a refusal has just ended. */
  window: SampleWindow
  /** Those before it that began with a full store. */
  previous: readonly SampleWindow[]
  /** Requests a millisecond when the refusal came: the quota gives less. Undefined for the first refusal. */
  peakPerMs: number | undefined
  /** How long nothing could leave after the stretch's end. */
  pausedMs: number
  /** How long the refusal took to come: a shorter stretch says nothing of a rate. */
  roundTripMs: number
}

/** `perMs`: requests a millisecond. `full`: the store was full as the stretch began. */
export type RateEstimate = { perMs: number; minPerMs: number }

/** Counts come in whole requests: two stores that differ by less are the same. */
const TOLERANCE = 0.5
/** Rates are tried in steps of one percent. */
const RATE_STEP = 1.01

/**
 * The rate of a quota, seen from a refusal.
 *
 * Every service has a store of requests that fills at the quota's rate: a bucket, or the window that is open. What a
 * stretch was granted came from the store and from what came back meanwhile; so its grants, over stretch and pause,
 * are the least that the rate can be. It is more where the store was full and ran over during the pause: then it is
 * the lowest rate that needs no bigger store than earlier stretches needed. The first refusal has no earlier one and
 * could mean any store: halfway, in proportion, between that least and the most, which is nothing in store.
 */
export function estimateRate({
  window,
  previous,
  peakPerMs,
  pausedMs,
  roundTripMs,
}: RateEvidence): RateEstimate {
  const lengthMs = Math.max(window.end - window.since, roundTripMs)
  const grants = countGrants(window)
  const minPerMs = grants / (lengthMs + Math.min(window.idleMs, pausedMs))
  if (peakPerMs === undefined) return { perMs: Math.sqrt((minPerMs * grants) / lengthMs), minPerMs: 0 }
  let perMs = minPerMs
  while (perMs < peakPerMs && burstUsed(window, perMs) > smallestBurst(previous, perMs) + TOLERANCE)
    perMs *= RATE_STEP
  return { perMs, minPerMs: minPerMs * RATE_STEP }
}

function smallestBurst(previous: readonly SampleWindow[], perMs: number): number {
  return Math.min(...previous.map((window) => burstUsed(window, perMs)))
}
