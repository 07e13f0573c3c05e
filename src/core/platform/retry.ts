import pRetry from 'p-retry'

/** How often and how soon failed work is tried again. */
export type RetryOptions = {
  /** Retries after the first attempt. HTTP 429 does not count as a failed attempt. @default 7 */
  retries?: number
  /** Upper bound of the delay before the first retry, in milliseconds; it doubles with each retry. @default 500 */
  firstDelayMs?: number
  /** Upper bound of every delay without Retry-After, in milliseconds. @default 30000 */
  maxDelayMs?: number
}

export type RetryPolicy = Readonly<Required<RetryOptions>>

/** Every retry limit and delay of the program. To change how often something is retried, change it here. */
export const RETRY_POLICIES = {
  /** API requests, with full jitter. The rate limiter backs off by the same delays. */
  request: { retries: 7, firstDelayMs: 500, maxDelayMs: 30_000 },
  /** Files of an export that `load --from-manifest` fetches over HTTP. */
  download: { retries: 3, firstDelayMs: 500, maxDelayMs: 30_000 },
  /** Object store requests: by the SDK, and again here for conflicts and for connections lost during a body. */
  objectStore: { retries: 4, firstDelayMs: 100, maxDelayMs: 1_000 },
  /** Fetches of a whole export that another run replaces meanwhile. */
  replacedExport: { retries: 2, firstDelayMs: 0, maxDelayMs: 0 },
  /** Tasks of a queue that failed on a worker; the queue waits between attempts. */
  task: { retries: 2, firstDelayMs: 1_000, maxDelayMs: 4_000 },
  /** The lock of an output, while other processes compete for an expired one. */
  outputLock: { retries: 200, firstDelayMs: 10, maxDelayMs: 10 },
  /** The lease of an object store, while other runs acquire or release it. */
  lease: { retries: 9, firstDelayMs: 50, maxDelayMs: 50 },
  /** The lock of a file of placeholder names, which another conversion holds for milliseconds. */
  fileLock: { retries: 200, firstDelayMs: 50, maxDelayMs: 50 },
} as const satisfies Record<string, RetryPolicy>

export type FailedAttempts = {
  /** Attempts that have failed, at least 1. */
  failures: number
  /** Delay that the response requests, in milliseconds. */
  retryAfterMs: number | undefined
}

/**
 * Milliseconds to wait before the next attempt: Retry-After if there is one, otherwise exponential backoff with full jitter,
 * `random() × min(maxDelayMs, firstDelayMs × 2^(failures − 1))`. `random` returns a number in [0, 1).
 */
export function delayBeforeRetry(
  { failures, retryAfterMs }: FailedAttempts,
  policy: RetryPolicy,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  return Math.round(Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (failures - 1)) * random())
}

/**
 * Repeats work while it throws retryable errors, with exponential backoff without jitter.
 *
 * @throws the error of the last attempt, or the reason of `signal`.
 */
export function retry<T>(
  policy: RetryPolicy,
  work: () => Promise<T>,
  { isRetryable, signal }: { isRetryable: (error: unknown) => boolean; signal?: AbortSignal | undefined },
): Promise<T> {
  return pRetry(work, {
    retries: policy.retries,
    minTimeout: policy.firstDelayMs,
    maxTimeout: policy.maxDelayMs,
    shouldRetry: ({ error }) => isRetryable(error),
    ...(signal === undefined ? {} : { signal }),
  })
}
