import type { RequestSpec } from '../../../http/request.ts'

/** What one call may be given besides its query. */
export type CallOptions = {
  /**
   * Ends the call, waits included, with the signal's reason. A request that changes something may have been carried
   * out all the same.
   */
  signal?: AbortSignal | undefined
}

/** Asks within the client's retries, quota and concurrency, and gives what `read` makes of the body of a success. */
export type Call = <T>(spec: RequestSpec, read: (body: Buffer) => T, options?: CallOptions) => Promise<T>

/** Where a listing starts and how long its pages are. */
export type Paging = {
  /** Token of an earlier page: start after it. Tokens are random and short-lived. */
  pageToken?: string | undefined
  /** Items in a page, 1 to 100. @default 100 */
  pageSize?: number | undefined
}

/** Items that a page is asked for: the most that it may have. */
export const PAGE_SIZE = 100
