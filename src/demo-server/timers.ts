/** Runs a function once after a delay in milliseconds. Returns a function that cancels it. */
export type ScheduleAfter = (delayMs: number, run: () => void) => () => void

/** Uses `setTimeout`. A pending timer does not keep the process alive. */
export const scheduleWithTimer: ScheduleAfter = (delayMs, run) => {
  const timer = setTimeout(run, delayMs).unref()
  return () => clearTimeout(timer)
}
