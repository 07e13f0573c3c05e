import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'

/** Runs a callback once after a delay in milliseconds. Returns a function that cancels it. */
export type ScheduleAfter = (delayMs: number, run: () => void) => () => void

export type RunSchedulerOptions = {
  /** Delay between the first event and its run, in milliseconds, so that one run covers several events. */
  debounceMs: number
  /** Minimum age of transactions that a run includes, in milliseconds. */
  finalityMs: number
  /** Delay between the end of a run and the next run without any event, in milliseconds. */
  catchUpMs: number
  /**
   * Performs a run; runs never overlap. If it returns false, the run is retried as after an event. If it throws, the
   * scheduler ends with that error.
   */
  run: (trigger: RunTrigger) => Promise<boolean>
  /** Unix milliseconds. */
  now: () => number
  scheduleAfter: ScheduleAfter
}

/** What triggered a run. `late`: the previous run failed, or started before an event's transaction was old enough. */
export type RunTrigger = 'start' | 'event' | 'late' | 'catch-up'

export type RunScheduler = {
  /** Reports that an event arrived. */
  notifyEvent(): void
  /** Runs at once, then after events and after `catchUpMs`. Rejects with the error that a run throws. */
  start(): Promise<never>
  /** Prevents further runs. Resolves when the current run has ended. */
  stop(): Promise<void>
}

/**
 * Creates a scheduler for runs. Lost, duplicate and forged events affect only when runs happen, not what they export.
 */
export function createRunScheduler(options: RunSchedulerOptions): RunScheduler {
  return new DebouncedScheduler(options)
}

class DebouncedScheduler implements RunScheduler {
  /** An event arrived that no run has covered yet. */
  #isPending = false
  #lastEventMs = 0
  #isBusy = false
  #isStopped = false
  #running = Promise.resolve()
  #cancelEvent: (() => void) | undefined
  #cancelCatchUp: (() => void) | undefined
  #fail: (error: unknown) => void = () => {}
  readonly #options: RunSchedulerOptions

  constructor(options: RunSchedulerOptions) {
    this.#options = options
  }

  notifyEvent(): void {
    const { debounceMs, finalityMs, scheduleAfter } = this.#options
    if (this.#isStopped) return
    this.#markPending()
    if (!this.#isBusy)
      this.#cancelEvent ??= scheduleAfter(debounceMs + finalityMs, () => this.#startRun('event'))
  }

  start(): Promise<never> {
    return new Promise<never>((_, reject) => {
      this.#fail = reject
      this.#startRun('start')
    })
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimers()
    return this.#running
  }

  #startRun(trigger: RunTrigger): void {
    this.#cancelTimers()
    this.#running = this.#runOnce(trigger).catch((error: unknown) => this.#fail(error))
  }

  async #runOnce(trigger: RunTrigger): Promise<void> {
    const { debounceMs, finalityMs, catchUpMs, run, now, scheduleAfter } = this.#options
    // Events whose transactions are too recent for this run stay pending.
    this.#isPending = this.#isPending && this.#lastEventMs + finalityMs > now()
    this.#isBusy = true
    const isComplete = await run(trigger)
    this.#isBusy = false
    if (this.#isStopped) return
    if (!isComplete) this.#markPending()
    const visibleInMs = Math.max(0, this.#lastEventMs + finalityMs - now())
    if (this.#isPending)
      this.#cancelEvent = scheduleAfter(debounceMs + visibleInMs, () => this.#startRun('late'))
    this.#cancelCatchUp = scheduleAfter(Math.min(catchUpMs, MAX_TIMEOUT_MS), () => this.#startRun('catch-up'))
  }

  #markPending(): void {
    this.#isPending = true
    this.#lastEventMs = this.#options.now()
  }

  #cancelTimers(): void {
    this.#cancelEvent?.()
    this.#cancelCatchUp?.()
    this.#cancelEvent = undefined
    this.#cancelCatchUp = undefined
  }
}
