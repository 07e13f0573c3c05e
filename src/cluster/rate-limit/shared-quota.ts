/**
 * The quota of one API key, shared by all processes: a server keeps its state and uses its own clock. Times
 * are in milliseconds.
 */
export type SharedQuota = {
  /** Requests up to `max` permits. */
  reserve(max: number): Promise<ReservedPermits>
  /**
   * Reports a 429 (`permit`: the permit of the throttled request) or a pause that the service requested.
   * `waitMs`: the requested delay, undefined if unknown.
   */
  pause(throttle: { permit: ReservedPermit | undefined; waitMs: number | undefined }): Promise<void>
}

type ReservedPermits = {
  /** The permits, at most the look-ahead in the future. */
  permits: readonly ReservedPermit[]
  /** Delay before the next call is useful. */
  nextRequestMs: number
  /** Remaining pause of all processes; 0 if there is none. */
  pausedMs: number
}

/**
 * A permit. `delayMs`: time until the request may be sent; `window`, `sequence`: its sample window and its
 * number within it; `at`: its send time by the server's clock.
 */
export type ReservedPermit = { delayMs: number; window: number; sequence: number; at: number }

/** Settings of the shared rate limiter. Times are in milliseconds, rates in requests per millisecond. */
export const SHARED_LIMITER_SETTINGS = {
  /** Permits are issued up to this far ahead. They remain valid if another process is throttled meanwhile. */
  lookAheadMs: 30,
  /** Permits missed within this time are made up for, so that late timers cost no quota. */
  catchUpMs: 100,
  /** While catching up, requests keep at least this share of the regular interval between them. */
  minSpacing: 0.6,
  /** Initial rate of an unknown quota, and its doubling time until the first 429. */
  firstPerMs: 0.02,
  firstDoublingMs: 300,
  /** Bounds of the rate: one request per hour, and 1,000 per millisecond. */
  minPerMs: 1 / 3_600_000,
  maxPerMs: 1_000,
  /**
   * Pause after a 429 without Retry-After: doubles with each window without a grant, from the first value up
   * to the second.
   */
  firstBackoffMs: 250,
  maxBackoffMs: 30_000,
  /** Grants over this time before a 429 indicate a rate, not a burst. */
  sustainedMs: 20_000,
  /**
   * At the first 429, many requests are in flight. Those still granted after it measure the refill rate
   * without a burst. This needs at least `overflowMinRequests` requests, and `overflowShare` of the measured
   * rate is used.
   */
  overflowMinRequests: 6,
  overflowShare: 0.95,
  /** Share of the estimated rate that is used: slightly less avoids many 429s, each of which costs a pause. */
  safetyShare: 0.99,
  /** After a 429 at least this share of the rate remains, since a short window may reflect a burst. */
  minRetainedShare: 0.75,
  /**
   * A learned rate doubles within this multiple of the last window, in no less than `probeMinMs`, and within
   * no more than `probeMaxPauses` pauses or `probeMaxRequests` requests, whichever is longer.
   */
  probeWindows: 20,
  probeMinMs: 7_000,
  /** Upper bound of the doubling time of the first rate, which is uncertain and therefore probed sooner. */
  probeFirstMs: 6_000,
  probeMaxPauses: 600,
  probeMaxRequests: 1_000,
  /**
   * Below the best recent rate, the upper bound of the doubling time is multiplied by (rate /
   * best)^`speedUpPower`, but by no less than `minSpeedUp`.
   */
  speedUpPower: 20,
  minSpeedUp: 0.1,
  /** Maximum number of send times per window. */
  maxSamples: 512,
  /** Share of the best recent rate that remains after each 429. */
  bestRateDecay: 0.95,
  /** The state expires after this time without use. */
  ttlMs: 86_400_000,
} as const
