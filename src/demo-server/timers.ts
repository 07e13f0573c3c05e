/** Runs something once after a delay in milliseconds, and gives what calls it off. */
export type ScheduleAfter = (delayMs: number, run: () => void) => () => void

/** The clock on the wall; a timer that waits keeps no process alive. */
export const scheduleWithTimer: ScheduleAfter = (delayMs, run) => {
  const timer = setTimeout(run, delayMs).unref()
  return () => clearTimeout(timer)
}
