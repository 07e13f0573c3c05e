/**
 * Maximum delay of a Node timer, in milliseconds; longer ones fire immediately. Longer waits must use several
 * timers.
 */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1
