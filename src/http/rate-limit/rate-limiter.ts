import { MAX_TIMEOUT_MS } from '../../core/platform/max-timeout.ts'
import {
  type LimiterState,
  newLimiterState,
  nextSendAt,
  type RequestOutcome,
  recordOutcome,
  send,
} from './limiter-state.ts'
import type { SentRequest } from './sample-window.ts'

/**
 * The one quota gate of a run: every request of every job and wallet passes it, tries included.
 *
 * It knows no limit at first and opens step by step until a refusal, the service's own word of what is left, or the
 * requests in flight are the limit. A refusal stops everything for as long as the service asked (or a growing
 * while); then requests leave one by one at the rate that was learnt, which rises again gently. No slot is given
 * out ahead of its time, so no herd leaves after a pause. Who takes needs to know none of this: a gate that many
 * machines share can have the same two functions.
 */
export type RateLimiter = {
  /** Resolves when one request may leave. Rejects with the signal's reason when it is aborted first. */
  acquire(signal: AbortSignal): Promise<Permit>
  /** Milliseconds until the pause ends, 0 where there is none. */
  pausedForMs(): number
}

/** Says what came of the request that left. To be called exactly once. */
export type Permit = (outcome: RequestOutcome) => void

export type LimiterClock = {
  /** Milliseconds that never run backwards. */
  now: () => number
  /** A number in [0, 1). */
  random: () => number
  /** Calls back once after so many milliseconds; what it gives cancels that. */
  setTimer: (ms: number, callback: () => void) => () => void
}

type State = { clock: LimiterClock; limiter: LimiterState; waiters: Waiter[]; cancelTimer: () => void }
type Waiter = (permit: Permit) => void

/** Creates a gate that knows no limit yet. Clients of one key share one, since the service counts them as one. */
export function createRateLimiter(clock: LimiterClock = systemClock): RateLimiter {
  const state: State = { clock, limiter: newLimiterState(clock.now()), waiters: [], cancelTimer: () => {} }
  return {
    acquire: (signal) => acquire(state, signal),
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

function acquire(state: State, signal: AbortSignal): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const grant = (permit: Permit) => {
      signal.removeEventListener('abort', onAbort)
      resolve(permit)
    }
    const onAbort = () => {
      state.waiters.splice(state.waiters.indexOf(grant), 1)
      if (state.waiters.length === 0) state.cancelTimer()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    state.waiters.push(grant)
    grantDue(state)
  })
}

/** Lets out everyone whose time has come and sets the clock for the next. */
function grantDue(state: State): void {
  const { clock, limiter, waiters } = state
  state.cancelTimer()
  while (waiters.length > 0) {
    const now = clock.now()
    const waitMs = nextSendAt(limiter) - now
    if (waitMs > 0) {
      if (waitMs < Number.POSITIVE_INFINITY)
        state.cancelTimer = clock.setTimer(Math.min(waitMs, MAX_TIMEOUT_MS), () => grantDue(state))
      return
    }
    waiters.shift()?.(permitFor(state, send(limiter, now)))
  }
}

function permitFor(state: State, request: SentRequest): Permit {
  return (outcome) => {
    const { clock, limiter } = state
    recordOutcome(limiter, request, { ...outcome, now: clock.now(), random: clock.random })
    grantDue(state)
  }
}
