/**
 * What `ratelimit-remaining` allows. A service that says what is left need never refuse: no more requests are in
 * flight than were left when it last said so, and what it was seen to give back since.
 */
export type RemainingQuota = {
  /** Number and time of departure of the newest request whose answer said what was left; undefined: none did. */
  latest: QuotaReport | undefined
  /** What came back lately and in how long (ms), old observations fading. */
  replenished: number
  observedMs: number
}

type QuotaReport = { sequence: number; at: number; remaining: number }

/** Observations fade over this time, so that another client of the same quota is noticed. */
const DECAY_MS = 1_000

export function newRemainingQuota(): RemainingQuota {
  return { latest: undefined, replenished: 0, observedMs: 0 }
}

/** Takes note of an answer. Answers overtake each other: only what a later request says is news. */
export function updateRemaining(quota: RemainingQuota, report: QuotaReport): void {
  const previous = quota.latest
  if (previous !== undefined && report.sequence <= previous.sequence) return
  quota.latest = report
  if (previous === undefined) return
  const elapsed = report.at - previous.at
  const sentSince = report.sequence - previous.sequence
  const decay = Math.exp(-elapsed / DECAY_MS)
  // A window that begins anew gives everything back at once, which says nothing of a rate: never more than was sent.
  const returned = Math.min(sentSince, Math.max(0, report.remaining - previous.remaining + sentSince))
  quota.replenished = quota.replenished * decay + returned
  quota.observedMs = quota.observedMs * decay + elapsed
}

/** When the `nth` request may leave by what the service said; Infinity where only another answer can tell. */
export function quotaAvailableAt(
  { latest, replenished, observedMs }: RemainingQuota,
  sequence: number,
): number {
  if (latest === undefined) return Number.NEGATIVE_INFINITY
  const shortfall = sequence - latest.sequence - latest.remaining
  if (shortfall <= 0) return Number.NEGATIVE_INFINITY
  return replenished > 0 ? latest.at + (shortfall * observedMs) / replenished : Number.POSITIVE_INFINITY
}
