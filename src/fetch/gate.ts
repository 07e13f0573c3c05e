import { delayBeforeRetry, RETRY_DEFAULTS } from './retry.ts'

/**
 * The one quota gate of a run: every request of every job and wallet passes it, tries included.
 *
 * It knows no limit at first and lets everything through. A refusal stops everything for as long as the service
 * asked (or a growing while), then requests leave one by one at the rate that was seen to be granted, and the rate
 * rises again gently. Nobody is given a slot ahead of its time, so no herd leaves after a pause began.
 */
export type Gate = {
  /** Resolves when one request may leave. Rejects with the signal's reason when it is aborted first. */
  take(signal: AbortSignal): Promise<void>
  /** Says that an answer that spends quota came. */
  granted(remaining: RateState): void
  /** Says that a request taken at `takenMs` was refused with 429. */
  refused(refusal: { takenMs: number; retryAfterMs: number | undefined }): void
  /** Milliseconds until the pause ends, 0 where there is none. */
  pausedMs(): number
}

/** What the service says of its quota, where it says it. */
export type RateState = { remaining: number | undefined; resetMs: number | undefined }

export type GateClock = { now: () => number; dice: () => number }

type Waiter = { go: () => void; signal: AbortSignal }

type State = {
  clock: GateClock
  pausedUntil: number
  /** Milliseconds between two requests; 0 while no limit is known. */
  intervalMs: number
  nextSlot: number
  lastRefusal: number
  refusalsInARow: number
  /** Times of the last grants, newest last. */
  grants: number[]
  waiters: Waiter[]
  timer: NodeJS.Timeout | undefined
}

/** Grants looked back at when a rate is learnt. */
const MEMORY = 200
/** What a refusal leaves of the rate that was granted. */
const FALL = 0.9
/** What each grant adds to the rate. */
const RISE = 1.005
const SLOWEST_MS = 10_000
const FASTEST_MS = 0.5

export function createGate(clock: GateClock = { now: Date.now, dice: Math.random }): Gate {
  const state: State = {
    clock,
    pausedUntil: 0,
    intervalMs: 0,
    nextSlot: 0,
    lastRefusal: Number.NEGATIVE_INFINITY,
    refusalsInARow: 0,
    grants: [],
    waiters: [],
    timer: undefined,
  }
  return {
    take: (signal) => take(state, signal),
    granted: (remaining) => noteGrant(state, remaining),
    refused: (refusal) => noteRefusal(state, refusal),
    pausedMs: () => Math.max(0, state.pausedUntil - clock.now()),
  }
}

function take(state: State, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const waiter = {
      signal,
      go: () => {
        signal.removeEventListener('abort', leave)
        resolve()
      },
    }
    const leave = () => {
      state.waiters.splice(state.waiters.indexOf(waiter), 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    state.waiters.push(waiter)
    release(state)
  })
}

/** Lets out everyone whose time has come and sets the clock for the next. */
function release(state: State): void {
  clearTimeout(state.timer)
  state.timer = undefined
  while (state.waiters.length > 0) {
    const now = state.clock.now()
    const due = Math.max(state.pausedUntil, state.nextSlot)
    if (due > now) {
      state.timer = setTimeout(() => release(state), Math.min(due - now, 60_000))
      return
    }
    state.nextSlot = Math.max(now - state.intervalMs, state.nextSlot) + state.intervalMs
    state.waiters.shift()?.go()
  }
}

function noteGrant(state: State, { remaining, resetMs }: RateState): void {
  const now = state.clock.now()
  state.refusalsInARow = 0
  state.grants.push(now)
  if (state.grants.length > MEMORY) state.grants.shift()
  if (state.intervalMs > 0) state.intervalMs = Math.max(FASTEST_MS, state.intervalMs / RISE)
  if (remaining === 0 && resetMs !== undefined) state.pausedUntil = Math.max(state.pausedUntil, now + resetMs)
}

function noteRefusal(
  state: State,
  { takenMs, retryAfterMs }: { takenMs: number; retryAfterMs: number | undefined },
): void {
  const now = state.clock.now()
  // Requests that left before the last refusal was known say nothing new about the rate.
  if (takenMs > state.lastRefusal) {
    state.intervalMs = Math.min(SLOWEST_MS, learnInterval(state, now))
    state.refusalsInARow += 1
    state.lastRefusal = now
  }
  const failures = Math.max(1, state.refusalsInARow)
  const wait = delayBeforeRetry(
    { failures, retryAfterMs },
    RETRY_DEFAULTS,
    () => 0.5 + state.clock.dice() / 2,
  )
  state.pausedUntil = Math.max(state.pausedUntil, now + wait)
  state.nextSlot = Math.max(state.nextSlot, state.pausedUntil)
  release(state)
}

function learnInterval(state: State, now: number): number {
  const since = state.grants[0]
  const seen = since === undefined || state.grants.length < 5 ? 500 : (now - since) / state.grants.length
  return Math.max(seen, state.intervalMs, FASTEST_MS) / FALL
}
