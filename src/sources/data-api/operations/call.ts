import type { RequestSpec } from '../../../http/request.ts'

/** Options of a single call. */
export type CallOptions = {
  /**
   * Aborts the call, including waits, with the signal's reason. A request that changes something may
   * nevertheless take effect.
   */
  signal?: AbortSignal | undefined
}

/**
 * Sends a request with the client's retries, rate limiter and concurrency limit, and returns what `read`
 * makes of the body of a successful response.
 */
export type Call = <T>(spec: RequestSpec, read: (body: Buffer) => T, options?: CallOptions) => Promise<T>

/** Start and page size of a listing. */
export type Paging = {
  /** Token of an earlier page, to start after it. Tokens are random and short-lived. */
  pageToken?: string | undefined
  /** Items per page, 1 to 100. @default 100 */
  pageSize?: number | undefined
}

/** Default and maximum page size. */
export const PAGE_SIZE = 100
