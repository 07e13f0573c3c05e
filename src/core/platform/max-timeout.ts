/** Timers beyond this, in milliseconds, fire at once: whoever waits longer looks again on the way. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1
