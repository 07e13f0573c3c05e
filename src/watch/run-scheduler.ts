import { MAX_TIMEOUT_MS } from '../core/platform/max-timeout.ts'

/** Runs something once after a delay in milliseconds, and gives what calls it off. */
export type ScheduleAfter = (delayMs: number, run: () => void) => () => void

export type RunSchedulerOptions = {
  /** Wait after the first event before a run, in milliseconds: what comes meanwhile is seen by the same run. */
  debounceMs: number
  /** Age from which a run sees a transaction, in milliseconds. */
  finalityMs: number
  /** From the end of one run to the next, without any event, in milliseconds. */
  catchUpMs: number
  /**
   * One run, never two at once; false: it is to be tried again like after an event. What it throws ends the pacer.
   */
  run: (trigger: RunTrigger) => Promise<boolean>
  /** Unix milliseconds. */
  now: () => number
  scheduleAfter: ScheduleAfter
}

/** Why there is a run: `late` where the last one could not see all yet, or failed. */
export type RunTrigger = 'start' | 'event' | 'late' | 'catch-up'

export type RunScheduler = {
  /** Says that something has happened. */
  notifyEvent(): void
  /** Runs at once, and from then on after events and at times. Rejects with what a run throws. */
  start(): Promise<never>
  /** No further run; resolves when the one under way has ended. */
  stop(): Promise<void>
}

/** Creates what decides when to run: lost, doubled and forged events cost time only. */
export function createRunScheduler(options: RunSchedulerOptions): RunScheduler {
  return new DebouncedScheduler(options)
}

class DebouncedScheduler implements RunScheduler {
  /** Something has happened that the next run is to see. */
  #isPending = false
  #lastEventMs = 0
  #isBusy = false
  #isStopped = false
  #running = Promise.resolve()
  #callOffEvent: (() => void) | undefined
  #callOffCatchUp: (() => void) | undefined
  #fail: (thrown: unknown) => void = () => {}
  readonly #options: RunSchedulerOptions

  constructor(options: RunSchedulerOptions) {
    this.#options = options
  }

  notifyEvent(): void {
    const { debounceMs, finalityMs, scheduleAfter } = this.#options
    if (this.#isStopped) return
    this.#note()
    if (!this.#isBusy) this.#callOffEvent ??= scheduleAfter(debounceMs + finalityMs, () => this.#go('event'))
  }

  start(): Promise<never> {
    return new Promise<never>((_, reject) => {
      this.#fail = reject
      this.#go('start')
    })
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#callOff()
    return this.#running
  }

  #go(trigger: RunTrigger): void {
    this.#callOff()
    this.#running = this.#runOnce(trigger).catch((thrown: unknown) => this.#fail(thrown))
  }

  async #runOnce(trigger: RunTrigger): Promise<void> {
    const { debounceMs, finalityMs, catchUpMs, run, now, scheduleAfter } = this.#options
    // Events that are younger than what this run will see are left pending.
    this.#isPending = this.#isPending && this.#lastEventMs + finalityMs > now()
    this.#isBusy = true
    const isComplete = await run(trigger)
    this.#isBusy = false
    if (this.#isStopped) return
    if (!isComplete) this.#note()
    const visibleInMs = Math.max(0, this.#lastEventMs + finalityMs - now())
    if (this.#isPending) this.#callOffEvent = scheduleAfter(debounceMs + visibleInMs, () => this.#go('late'))
    this.#callOffCatchUp = scheduleAfter(Math.min(catchUpMs, MAX_TIMEOUT_MS), () => this.#go('catch-up'))
  }

  #note(): void {
    this.#isPending = true
    this.#lastEventMs = this.#options.now()
  }

  #callOff(): void {
    this.#callOffEvent?.()
    this.#callOffCatchUp?.()
    this.#callOffEvent = undefined
    this.#callOffCatchUp = undefined
  }
}
