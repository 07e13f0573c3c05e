import { MAX_TIMEOUT_MS } from '../../core/platform/max-timeout.ts'
import type { SentRequest } from './estimate-rate.ts'
import { LOCAL_TUNING } from './learned-rate.ts'
import {
  type LimiterState,
  newLimiterState,
  nextSendAt,
  type RequestOutcome,
  recordOutcome,
  send,
} from './limiter-state.ts'

/**
 * The rate limiter of a run. Every attempt of every request of every job acquires a permit from it.
 *
 * Without a known rate it ramps up the number of requests in flight, until a 429, the reported
 * remaining quota or the concurrency limits it. A 429 pauses all requests for the stated delay, or with
 * exponential backoff if there is none. After the pause, requests are sent one by one at the learned rate,
 * which rises slowly until the next 429. Permits are never issued ahead of time, so requests do not burst
 * after a pause.
 *
 * Callers depend on these two functions only: a limiter that several machines share implements the same
 * interface.
 */
export type RateLimiter = {
  /**
   * Waits for a permit to send one request.
   *
   * @param signal aborts the wait
   * @param weight the cost of the request, as a multiple of that of the requests that a known rate counts. @default 1
   * @returns a permit; the caller must release it with the request's outcome
   * @throws the signal's reason, if it is aborted first
   */
  acquire(signal: AbortSignal, weight?: number): Promise<Permit>
  /** Remaining duration of the pause in milliseconds; 0 if there is none. */
  pausedForMs(): number
}

/** Releases the permit with the outcome of the request. Must be called exactly once. */
export type Permit = (outcome: RequestOutcome) => void

export type LimiterClock = {
  /** Monotonic time in milliseconds. */
  now: () => number
  /** A number in [0, 1). */
  random: () => number
  /**
   * Calls `callback` once after `ms` milliseconds.
   *
   * @returns a function that cancels the timer
   */
  setTimer: (ms: number, callback: () => void) => () => void
}

type State = { clock: LimiterClock; limiter: LimiterState; waiters: Waiter[]; cancelTimer: () => void }
type Waiter = { grant: (permit: Permit) => void; weight: number }

/**
 * Creates a rate limiter. Clients that use the same API key should share one, because the service counts
 * their requests together.
 *
 * @param clock time, randomness and timers; tests pass a virtual clock
 * @param knownPerMs requests per millisecond that the quota allows: sending starts at this rate and never
 *   exceeds it. @default unknown
 * @example
 * ```ts
 * const rateLimiter = createRateLimiter()
 * const mainnet = createServiceClient({ baseUrl: MAINNET_URL, apiKey, rateLimiter })
 * const testnet = createServiceClient({ baseUrl: TESTNET_URL, apiKey, rateLimiter })
 * ```
 */
export function createRateLimiter(clock: LimiterClock = systemClock, knownPerMs?: number): RateLimiter {
  const limiter = newLimiterState(clock.now(), LOCAL_TUNING, knownPerMs)
  const state: State = { clock, limiter, waiters: [], cancelTimer: () => {} }
  return {
    acquire: (signal, weight = 1) => acquire(state, signal, weight),
    pausedForMs: () => Math.max(0, state.limiter.pausedUntil - clock.now()),
  }
}

export const systemClock: LimiterClock = {
  now: () => performance.now(),
  random: Math.random,
  setTimer: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

function acquire(state: State, signal: AbortSignal, weight: number): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const waiter: Waiter = {
      grant: (permit) => {
        signal.removeEventListener('abort', onAbort)
        resolve(permit)
      },
      weight,
    }
    const onAbort = () => {
      state.waiters.splice(state.waiters.indexOf(waiter), 1)
      if (state.waiters.length === 0) state.cancelTimer()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    state.waiters.push(waiter)
    grantDue(state)
  })
}

/** Issues permits to all waiters whose time has come and sets the timer for the next one. */
function grantDue(state: State): void {
  const { clock, limiter, waiters } = state
  state.cancelTimer()
  for (let waiter = waiters[0]; waiter !== undefined; waiter = waiters[0]) {
    const now = clock.now()
    const waitMs = nextSendAt(limiter) - now
    if (waitMs > 0) {
      if (waitMs < Number.POSITIVE_INFINITY)
        state.cancelTimer = clock.setTimer(Math.min(waitMs, MAX_TIMEOUT_MS), () => grantDue(state))
      return
    }
    waiters.shift()
    waiter.grant(permitFor(state, send(limiter, now, { tuning: LOCAL_TUNING, weight: waiter.weight })))
  }
}

function permitFor(state: State, request: SentRequest): Permit {
  return (outcome) => {
    const { clock, limiter } = state
    recordOutcome(limiter, request, { ...outcome, now: clock.now(), random: clock.random })
    grantDue(state)
  }
}
