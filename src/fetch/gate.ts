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
  /** Says that the service asked everyone to wait, with 429 or a fault's Retry-After. */
  refused(refusal: Refusal): void
  /** Holds everything back for this long, in milliseconds. */
  pause(ms: number): void
  /** Milliseconds until the pause ends, 0 where there is none. */
  pausedMs(): number
}

/** What the service says of its quota, where it says it. */
type RateState = { remaining: number | undefined; resetMs: number | undefined }

/** `takenMs`: when the refused request left; undefined for a fault, which says nothing about the rate. */
type Refusal = { takenMs: number | undefined; retryAfterMs: number | undefined }

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
  /** Grants since the last refusal, and when the first of them may have left. */
  grants: number
  grantsSince: number
  waiters: Waiter[]
  timer: NodeJS.Timeout | undefined
}

/** Fewer grants between two refusals say too little of a rate: the interval only grows a step. */
const ENOUGH_GRANTS = 20
/** What a refusal leaves of the rate that was granted. */
const FALL = 0.9
/** What a refusal adds to the interval where too few grants were seen. */
const STEP = 2
/** What each grant adds to the rate. */
const RISE = 1.01
const FASTEST_MS = 0.5
const FIRST_STEP_MS = 5
/** Slower than this the gate never gets by itself: below, the waits that the service asks for do the limiting. */
const SLOWEST_MS = 250

/** Creates a gate that knows no limit yet. Clients of one key share one, since the service counts them as one. */
export function createGate(clock: GateClock = { now: Date.now, dice: Math.random }): Gate {
  const state: State = {
    clock,
    pausedUntil: 0,
    intervalMs: 0,
    nextSlot: 0,
    lastRefusal: Number.NEGATIVE_INFINITY,
    refusalsInARow: 0,
    grants: 0,
    grantsSince: clock.now(),
    waiters: [],
    timer: undefined,
  }
  return {
    take: (signal) => take(state, signal),
    granted: (remaining) => noteGrant(state, remaining),
    refused: (refusal) => noteRefusal(state, refusal),
    pause: (ms) => pause(state, ms),
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
      if (state.waiters.length === 0) clearTimeout(state.timer)
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
  state.refusalsInARow = 0
  state.grants += 1
  if (state.intervalMs > 0) state.intervalMs = Math.max(FASTEST_MS, state.intervalMs / RISE)
  if (remaining === 0 && resetMs !== undefined) pause(state, resetMs)
}

function noteRefusal(state: State, { takenMs, retryAfterMs }: Refusal): void {
  const now = state.clock.now()
  // Requests that left before the last refusal was known say nothing new about the rate.
  if (takenMs !== undefined && takenMs > state.lastRefusal) {
    state.intervalMs = Math.min(SLOWEST_MS, learnInterval(state, now))
    state.grants = 0
    state.refusalsInARow += 1
    state.lastRefusal = now
  }
  const failures = Math.max(1, state.refusalsInARow)
  const wait = delayBeforeRetry(
    { failures, retryAfterMs },
    RETRY_DEFAULTS,
    () => 0.5 + state.clock.dice() / 2,
  )
  pause(state, wait)
}

function pause(state: State, ms: number): void {
  state.pausedUntil = Math.max(state.pausedUntil, state.clock.now() + ms)
  state.nextSlot = Math.max(state.nextSlot, state.pausedUntil)
  state.grantsSince = state.pausedUntil
  release(state)
}

/** The interval that the granted requests had, and a little more; pauses do not count. */
function learnInterval({ grants, grantsSince, intervalMs }: State, now: number): number {
  if (grants >= ENOUGH_GRANTS) return Math.max(FASTEST_MS, (now - grantsSince) / grants) / FALL
  return Math.max(FIRST_STEP_MS, intervalMs) * STEP
}
