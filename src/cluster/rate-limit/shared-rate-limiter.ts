import type { RequestOutcome } from '../../http/rate-limit/limiter-state.ts'
import type { LimiterClock, Permit, RateLimiter } from '../../http/rate-limit/rate-limiter.ts'
import { systemClock } from '../../http/rate-limit/rate-limiter.ts'
import { MAX_WAIT_MS } from '../../http/wait-limits.ts'
import type { ReservedPermit, SharedQuota } from './shared-quota.ts'

type Waiter = { grant: (permit: Permit) => void }
type State = {
  quota: SharedQuota
  clock: LimiterClock
  waiters: Waiter[]
  /** A call for permits is pending or scheduled. */
  isRequesting: boolean
  pausedUntil: number
}

/**
 * Creates a rate limiter for a quota that several processes share. It implements the interface of the local
 * one and obtains its permits from the shared state.
 */
export function createSharedRateLimiter(quota: SharedQuota, clock: LimiterClock = systemClock): RateLimiter {
  const state: State = { quota, clock, waiters: [], isRequesting: false, pausedUntil: clock.now() }
  return {
    acquire: (signal) => acquire(state, signal),
    pausedForMs: () => Math.max(0, state.pausedUntil - clock.now()),
  }
}

function acquire(state: State, signal: AbortSignal): Promise<Permit> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const waiter: Waiter = {
      grant: (permit) => {
        signal.removeEventListener('abort', onAbort)
        resolve(permit)
      },
    }
    const onAbort = () => {
      const index = state.waiters.indexOf(waiter)
      if (index >= 0) state.waiters.splice(index, 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    state.waiters.push(waiter)
    void requestPermits(state)
  })
}

/** Delay (ms) before permits are requested again after a failed call. */
const REQUEST_RETRY_MS = 500

/** Requests permits while there are waiters, one call at a time. */
async function requestPermits(state: State): Promise<void> {
  if (state.isRequesting) return
  state.isRequesting = true
  const { quota, clock, waiters } = state
  const fallback = { permits: [], nextRequestMs: REQUEST_RETRY_MS, pausedMs: 0 }
  const { permits, nextRequestMs, pausedMs } = await quota.reserve(waiters.length).catch(() => fallback)
  if (pausedMs > 0) state.pausedUntil = clock.now() + pausedMs
  for (const permit of permits) clock.setTimer(permit.delayMs, () => grantNext(state, permit))
  const lastMs = permits.at(-1)?.delayMs ?? 0
  clock.setTimer(Math.max(nextRequestMs, lastMs, 1), () => {
    state.isRequesting = false
    if (state.waiters.length > 0) void requestPermits(state)
  })
}

/** Grants a permit to the longest waiter. Permits issued before a pause that has started meanwhile are dropped. */
function grantNext(state: State, permit: ReservedPermit): void {
  if (state.pausedUntil > state.clock.now()) return
  state.waiters.shift()?.grant((outcome) => recordOutcome(state, permit, outcome))
}

/** The reported remaining quota is honoured only if it is 0. */
const EXHAUSTED = 0

function recordOutcome(state: State, permit: ReservedPermit, outcome: RequestOutcome): void {
  if (outcome.kind === 'throttled') pauseAll(state, { permit, waitMs: outcome.retryAfterMs })
  else if (outcome.kind === 'failed') {
    if (outcome.retryAfterMs !== undefined)
      pauseAll(state, { permit: undefined, waitMs: outcome.retryAfterMs })
  } else if (outcome.remaining === EXHAUSTED && (outcome.resetMs ?? 0) > 1_000)
    pauseAll(state, { permit: undefined, waitMs: outcome.resetMs })
}

/** Pauses all processes. Delays above `MAX_WAIT_MS` are ignored: they fail their request and pause no other. */
function pauseAll(state: State, throttle: Parameters<SharedQuota['pause']>[0]): void {
  if ((throttle.waitMs ?? 0) > MAX_WAIT_MS) return
  const pausedUntil = state.clock.now() + (throttle.waitMs ?? 0)
  state.pausedUntil = Math.max(state.pausedUntil, pausedUntil)
  // If the report is lost, the only cost is another 429.
  state.quota.pause(throttle).catch(() => undefined)
}
