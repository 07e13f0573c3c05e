/**
 * The quota of one key, shared by processes: a server that all of them reach keeps the book, by its own clock. Times are
 * milliseconds.
 */
export type SharedQuota = {
  /** Asks for up to so many slots. */
  reserve(max: number): Promise<ReservedPermits>
  /** Tells that a request was refused (`slot`: the one it left by), or that the service asked for a pause of everybody. */
  pause(throttle: { permit: ReservedPermit | undefined; waitMs: number | undefined }): Promise<void>
}

type ReservedPermits = {
  /** When each may leave from now on: at most the look-ahead away. */
  permits: readonly ReservedPermit[]
  /** When it makes sense to ask again. */
  nextRequestMs: number
  /** How long everybody is held back; 0 where nobody is. */
  pausedMs: number
}

/** `stretch`: the time between two pauses that it belongs to; `nth`: its place there; `at`: when it leaves, by the server's clock. */
export type ReservedPermit = { delayMs: number; window: number; sequence: number; at: number }

/** How a rate is learnt from refusals. Milliseconds, and requests a millisecond. */
export const SHARED_LIMITER_SETTINGS = {
  /** Slots are given out so long ahead: what has one still leaves when another process is refused. */
  lookAheadMs: 30,
  /** Slots missed in so long are made up for: late timers cost no quota. */
  catchUpMs: 100,
  /** Then requests leave closer together than the rate has them, down to so much of the interval. */
  closest: 0.6,
  /** The rate of a key of which nothing is known, and how long it takes to double until the first refusal. */
  firstPerMs: 0.02,
  firstDoublingMs: 300,
  /** No rate is lower than one request an hour, or higher than this. */
  leastPerMs: 1 / 3_600_000,
  mostPerMs: 1_000,
  /** A refusal without Retry-After holds everybody back so long, twice as long each time nothing was granted. */
  firstHoldMs: 250,
  longestHoldMs: 30_000,
  /** What was granted in so long before a refusal is a rate, not a store. */
  sustainedMs: 20_000,
  /**
   * The first refusal finds many requests on their way: what was still granted of them is what came back meanwhile, a
   * rate without a store. So many at least must have left, and so much of that rate is believed.
   */
  overflowLeast: 6,
  overflowShare: 0.95,
  /** A little less than the rate that was seen is long without refusals: each costs a pause. */
  keptShare: 0.99,
  /** A short stretch could mean a rate or a store: so much of the rate stays. */
  largestFall: 0.75,
  /** A learnt rate doubles in so many times the last stretch, in no less than this, and in no more pauses or requests. */
  probeStretches: 20,
  probeLeastMs: 7_000,
  /** The very first rate is half guessed: it doubles sooner. */
  probeFirstMs: 6_000,
  probeMostPauses: 600,
  probeMostRequests: 1_000,
  /** Below the best rate that is remembered a rate doubles sooner, by its share of the best to this power, but not below. */
  soonerPower: 20,
  soonestShare: 0.1,
  /** Departures of a stretch that are kept. */
  mostMarks: 512,
  /** With each refusal so much of the memory of the best rate stays. */
  memory: 0.95,
  /** A book that nobody asked for so long is forgotten. */
  forgetMs: 86_400_000,
} as const
