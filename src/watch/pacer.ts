/** Runs something once after a delay in milliseconds, and gives what calls it off. */
export type After = (delayMs: number, run: () => void) => () => void

export type PacerOptions = {
  /** Wait after the first event before a run, in milliseconds: what comes meanwhile is seen by the same run. */
  debounceMs: number
  /** Age from which a run sees a transaction, in milliseconds. */
  finalityMs: number
  /** From the end of one run to the next, without any event, in milliseconds. */
  catchUpMs: number
  /**
   * One run, never two at once; false: it is to be tried again like after an event. What it throws ends the pacer.
   */
  work: (why: Occasion) => Promise<boolean>
  /** Unix milliseconds. */
  now: () => number
  after: After
}

/** Why there is a run: `late` where the last one could not see all yet, or failed. */
export type Occasion = 'start' | 'event' | 'late' | 'catch-up'

export type Pacer = {
  /** Says that something has happened. */
  event(): void
  /** Runs at once, and from then on after events and at times. Rejects with what a run throws. */
  start(): Promise<never>
  /** No further run; resolves when the one under way has ended. */
  stop(): Promise<void>
}

/** Creates what decides when to run: lost, doubled and forged events cost time only. */
export function createPacer({ debounceMs, finalityMs, catchUpMs, work, now, after }: PacerOptions): Pacer {
  const state = { pending: false, lastEventMs: 0, busy: false, stopped: false, running: Promise.resolve() }
  const timers: { event?: (() => void) | undefined; catchUp?: (() => void) | undefined } = {}
  let fail: (thrown: unknown) => void = () => {}

  const clear = () => {
    timers.event?.()
    timers.catchUp?.()
    timers.event = undefined
    timers.catchUp = undefined
  }
  const go = (why: Occasion) => {
    clear()
    state.running = runOnce(why).catch((thrown: unknown) => fail(thrown))
  }
  const runOnce = async (why: Occasion) => {
    // Events that are younger than what this run will see are left pending.
    state.pending = state.pending && state.lastEventMs + finalityMs > now()
    state.busy = true
    const good = await work(why)
    state.busy = false
    if (state.stopped) return
    if (!good) note()
    if (state.pending) timers.event = after(debounceMs + sightMs(), () => go('late'))
    timers.catchUp = after(Math.min(catchUpMs, LONGEST_TIMER_MS), () => go('catch-up'))
  }
  const note = () => {
    state.pending = true
    state.lastEventMs = now()
  }
  /** How long it takes until a run sees the last event. */
  const sightMs = () => Math.max(0, state.lastEventMs + finalityMs - now())

  return {
    event() {
      if (state.stopped) return
      note()
      if (!state.busy) timers.event ??= after(debounceMs + finalityMs, () => go('event'))
    },
    start: () =>
      new Promise<never>((_, reject) => {
        fail = reject
        go('start')
      }),
    stop() {
      state.stopped = true
      clear()
      return state.running
    },
  }
}

/** Timers beyond 2^31 ms fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
