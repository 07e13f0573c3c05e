/**
 * The limit that follows from `ratelimit-remaining`. If the service reports the remaining quota, it need not send
 * a 429: the limiter allows no more requests since the last report than it stated, plus the replenishment
 * observed recently.
 */
export type RemainingQuota = {
  /** The report in the response to the most recently sent request; undefined before the first report. */
  latest: QuotaReport | undefined
  /** Requests replenished recently and the time observed (ms). Both decay exponentially. */
  replenished: number
  observedMs: number
}

type QuotaReport = { sequence: number; at: number; remaining: number }

/** Time constant of the decay: another client of the same quota is noticed within seconds. */
const DECAY_MS = 1_000

export function newRemainingQuota(): RemainingQuota {
  return { latest: undefined, replenished: 0, observedMs: 0 }
}

/** Records a report. Responses can overtake each other, so a report for an earlier request is ignored. */
export function updateRemaining(quota: RemainingQuota, report: QuotaReport): void {
  const previous = quota.latest
  if (previous !== undefined && report.sequence <= previous.sequence) return
  quota.latest = report
  if (previous === undefined) return
  const elapsed = report.at - previous.at
  const sentSince = report.sequence - previous.sequence
  const decay = Math.exp(-elapsed / DECAY_MS)
  // When a fixed window resets, everything is replenished at once, which does not indicate a rate: count at
  // most what was sent.
  const returned = Math.min(sentSince, Math.max(0, report.remaining - previous.remaining + sentSince))
  quota.replenished = quota.replenished * decay + returned
  quota.observedMs = quota.observedMs * decay + elapsed
}

/**
 * Earliest time at which the reported quota allows the request with this sequence number: -Infinity if it
 * allows it now, Infinity if the replenishment rate is unknown, so that only another response can release it.
 */
export function quotaAvailableAt(
  { latest, replenished, observedMs }: RemainingQuota,
  sequence: number,
): number {
  if (latest === undefined) return Number.NEGATIVE_INFINITY
  const shortfall = sequence - latest.sequence - latest.remaining
  if (shortfall <= 0) return Number.NEGATIVE_INFINITY
  return replenished > 0 ? latest.at + (shortfall * observedMs) / replenished : Number.POSITIVE_INFINITY
}
