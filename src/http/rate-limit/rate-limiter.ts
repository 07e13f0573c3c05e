import { LONGEST_TIMER_MS } from '../../core/platform/max-timeout.ts'
import { dueAt, type GateOutcome, leave, newPace, type Pace, settle } from './limiter-state.ts'
import type { Departure } from './sample-window.ts'

/**
 * The one quota gate of a run: every request of every job and wallet passes it, tries included.
 *
 * It knows no limit at first and opens step by step until a refusal, the service's own word of what is left, or the
 * requests in flight are the limit. A refusal stops everything for as long as the service asked (or a growing
 * while); then requests leave one by one at the rate that was learnt, which rises again gently. No slot is given
 * out ahead of its time, so no herd leaves after a pause. Who takes needs to know none of this: a gate that many
 * machines share can have the same two functions.
 */
export type Gate = {
  /** Resolves when one request may leave. Rejects with the signal's reason when it is aborted first. */
  take(signal: AbortSignal): Promise<GatePass>
  /** Milliseconds until the pause ends, 0 where there is none. */
  pausedMs(): number
}

/** Says what came of the request that left. To be called exactly once. */
export type GatePass = (outcome: GateOutcome) => void

export type GateClock = {
  /** Milliseconds that never run backwards. */
  now: () => number
  /** A number in [0, 1). */
  dice: () => number
  /** Calls back once after so many milliseconds; what it gives cancels that. */
  after: (ms: number, call: () => void) => () => void
}

type State = { clock: GateClock; pace: Pace; waiters: Waiter[]; cancel: () => void }
type Waiter = (pass: GatePass) => void

/** Creates a gate that knows no limit yet. Clients of one key share one, since the service counts them as one. */
export function createGate(clock: GateClock = systemClock): Gate {
  const state: State = { clock, pace: newPace(clock.now()), waiters: [], cancel: () => {} }
  return {
    take: (signal) => take(state, signal),
    pausedMs: () => Math.max(0, state.pace.pausedUntil - clock.now()),
  }
}

export const systemClock: GateClock = {
  now: () => performance.now(),
  dice: Math.random,
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}

function take(state: State, signal: AbortSignal): Promise<GatePass> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const go = (pass: GatePass) => {
      signal.removeEventListener('abort', giveUp)
      resolve(pass)
    }
    const giveUp = () => {
      state.waiters.splice(state.waiters.indexOf(go), 1)
      if (state.waiters.length === 0) state.cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    state.waiters.push(go)
    release(state)
  })
}

/** Lets out everyone whose time has come and sets the clock for the next. */
function release(state: State): void {
  const { clock, pace, waiters } = state
  state.cancel()
  while (waiters.length > 0) {
    const now = clock.now()
    const waitMs = dueAt(pace) - now
    if (waitMs > 0) {
      if (waitMs < Number.POSITIVE_INFINITY)
        state.cancel = clock.after(Math.min(waitMs, LONGEST_TIMER_MS), () => release(state))
      return
    }
    waiters.shift()?.(passFor(state, leave(pace, now)))
  }
}

function passFor(state: State, departure: Departure): GatePass {
  return (outcome) => {
    const { clock, pace } = state
    settle(pace, departure, { ...outcome, now: clock.now(), dice: clock.dice })
    release(state)
  }
}
