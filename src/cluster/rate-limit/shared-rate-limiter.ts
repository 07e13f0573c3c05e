import type { GateOutcome } from '../../http/rate-limit/limiter-state.ts'
import type { Gate, GateClock, GatePass } from '../../http/rate-limit/rate-limiter.ts'
import { systemClock } from '../../http/rate-limit/rate-limiter.ts'
import { LONGEST_WAIT_MS } from '../../http/wait-limits.ts'
import type { SharedQuota, Slot } from './shared-quota.ts'

type Waiter = { go: (pass: GatePass) => void }
type State = {
  quota: SharedQuota
  clock: GateClock
  waiters: Waiter[]
  /** The book is being asked, or will be. */
  isAsking: boolean
  pausedUntil: number
}

/** A gate of a quota that processes share: requests leave by the slots that its book gives out. */
export function createSharedGate(quota: SharedQuota, clock: GateClock = systemClock): Gate {
  const state: State = { quota, clock, waiters: [], isAsking: false, pausedUntil: clock.now() }
  return {
    take: (signal) => take(state, signal),
    pausedMs: () => Math.max(0, state.pausedUntil - clock.now()),
  }
}

function take(state: State, signal: AbortSignal): Promise<GatePass> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const waiter: Waiter = {
      go: (pass) => {
        signal.removeEventListener('abort', giveUp)
        resolve(pass)
      },
    }
    const giveUp = () => {
      const at = state.waiters.indexOf(waiter)
      if (at >= 0) state.waiters.splice(at, 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    state.waiters.push(waiter)
    void ask(state)
  })
}

/** The book could not be asked: it is asked again after so long. */
const RETRY_MS = 500

/** Asks the book for slots as long as somebody waits; one question at a time. */
async function ask(state: State): Promise<void> {
  if (state.isAsking) return
  state.isAsking = true
  const { quota, clock, waiters } = state
  const lost = { slots: [], againMs: RETRY_MS, pausedMs: 0 }
  const { slots, againMs, pausedMs } = await quota.take(waiters.length).catch(() => lost)
  if (pausedMs > 0) state.pausedUntil = clock.now() + pausedMs
  for (const slot of slots) clock.after(slot.delayMs, () => leaveBy(state, slot))
  const lastMs = slots.at(-1)?.delayMs ?? 0
  clock.after(Math.max(againMs, lastMs, 1), () => {
    state.isAsking = false
    if (state.waiters.length > 0) void ask(state)
  })
}

/** Lets out who waits longest; after a pause that came meanwhile nobody leaves by an old slot. */
function leaveBy(state: State, slot: Slot): void {
  if (state.pausedUntil > state.clock.now()) return
  state.waiters.shift()?.go((outcome) => settle(state, slot, outcome))
}

/** Remaining requests are believed where a service says that none is left. */
const NONE_LEFT = 0

function settle(state: State, slot: Slot, outcome: GateOutcome): void {
  if (outcome.kind === 'refused') hold(state, { slot, waitMs: outcome.retryAfterMs })
  else if (outcome.kind === 'failed') {
    if (outcome.retryAfterMs !== undefined) hold(state, { slot: undefined, waitMs: outcome.retryAfterMs })
  } else if (outcome.remaining === NONE_LEFT && (outcome.resetMs ?? 0) > 1_000)
    hold(state, { slot: undefined, waitMs: outcome.resetMs })
}

/** A wait beyond all reason ends its request, and is no reason to stop everybody. */
function hold(state: State, told: Parameters<SharedQuota['hold']>[0]): void {
  if ((told.waitMs ?? 0) > LONGEST_WAIT_MS) return
  const until = state.clock.now() + (told.waitMs ?? 0)
  state.pausedUntil = Math.max(state.pausedUntil, until)
  // What the book does not hear costs a refusal more.
  state.quota.hold(told).catch(() => undefined)
}
