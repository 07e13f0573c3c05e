/** Timers beyond this, in milliseconds, fire at once: whoever waits longer looks again on the way. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1
