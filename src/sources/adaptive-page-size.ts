import { ExportError } from '../core/model/errors.ts'
import { BodyTooLargeError } from '../http/body.ts'
import type { RequestContext } from '../http/request.ts'
import { TimeoutError } from '../http/send-http-request.ts'

/** Page sizes, largest first. */
type PageSizes = readonly [number, ...number[]]
const PAGE_SIZES: PageSizes = [100, 50, 25, 10]

/**
 * Page size of one listing. It shrinks when a page is too large for the service or a gateway in front of it,
 * and grows back: after one page if the larger size failed once (an outage looks the same), otherwise after
 * 8, 16, 32 and so on up to 128 pages, so that a fixed limit causes few failed requests.
 */
export type AdaptivePageSize = {
  /** Items per page to request. */
  current(): number
  /** The smallest size that has succeeded so far. */
  smallest(): number
  /** Records that a page of the current size arrived. */
  recordSuccess(): void
  /** Records that a page of this size failed. Returns false if there is no smaller size. */
  recordFailure(size: number, error: ExportError): boolean
}

/** Number of failures from which on a size counts as one that failed repeatedly; a 413 counts for as many. */
const REPEATED = 2
/** Minimum and maximum number of pages before a size that failed repeatedly is tried again. */
const [MIN_WAIT_PAGES, MAX_WAIT_PAGES] = [8, 128]

/**
 * The largest page size that the service has not refused with 413, for all listings of a job. Every so many new
 * listings, one begins with the next larger size: another listing's items may just have been larger.
 */
export type SharedPageLimit = { index: number; listings: number; wait: number }

export const newSharedPageLimit = (): SharedPageLimit => ({ index: 0, listings: 0, wait: MIN_WAIT_PAGES })

/** Returns the index of the size with which a new listing begins. */
function firstIndex(shared: SharedPageLimit): number {
  if (shared.index === 0) return 0
  shared.listings += 1
  if (shared.listings % shared.wait !== 0) return shared.index
  shared.wait = Math.min(MAX_WAIT_PAGES, shared.wait * 2)
  return shared.index - 1
}

/**
 * @param shared the limit that other listings have found. @default a limit of its own
 * @param sizes largest first. @default those of the data API
 */
export function createAdaptivePageSize(
  shared: SharedPageLimit = newSharedPageLimit(),
  sizes: PageSizes = PAGE_SIZES,
): AdaptivePageSize {
  const failures: number[] = sizes.map((_, size) => (size < shared.index ? REPEATED : 0))
  let [index, lowestIndex, pages] = [firstIndex(shared), 0, 0]
  const pagesToWait = (size: number) => {
    const failedIndex = failures[size] ?? 0
    return failedIndex < REPEATED
      ? 1
      : Math.min(MAX_WAIT_PAGES, MIN_WAIT_PAGES * 2 ** (failedIndex - REPEATED))
  }
  return {
    current: () => sizes[index] ?? sizes[0],
    smallest: () => sizes[lowestIndex] ?? sizes[0],
    recordSuccess: () => {
      failures[index] = 0
      if (index < shared.index) Object.assign(shared, { ...newSharedPageLimit(), index })
      lowestIndex = Math.max(lowestIndex, index)
      pages += 1
      if (index === 0 || pages < pagesToWait(index - 1)) return
      index -= 1
      pages = 0
    },
    recordFailure: (size, error) => {
      const failedIndex = sizes.indexOf(size)
      // A concurrent request of that size failed before.
      if (failedIndex < index) return true
      if (failedIndex === sizes.length - 1) return false
      index = failedIndex
      const isLimit = error.status === 413
      failures[index] = (failures[index] ?? 0) + (isLimit ? REPEATED : 1)
      index += 1
      if (isLimit) shared.index = Math.max(shared.index, index)
      pages = 0
      return true
    },
  }
}

/** The smallest page of the data API. */
export const MIN_PAGE_SIZE = 10

/** Timeouts of servers and gateways; 524 is Cloudflare's. */
const TIMEOUT_STATUSES: ReadonlySet<number | undefined> = new Set([408, 504, 524])

/** Whether a request took too long, for this client, the service or a gateway. */
export function isTimeout({ status, cause }: ExportError): boolean {
  return TIMEOUT_STATUSES.has(status) || cause instanceof TimeoutError
}

/** Whether a smaller page may succeed after this error. */
export function isPageTooLarge(error: ExportError): boolean {
  return error.status === 413 || isTimeout(error) || error.cause instanceof BodyTooLargeError
}

type FailedPage = {
  size: AdaptivePageSize
  pageSize: number
  thrown: unknown
  /** @default isPageTooLarge */
  isTooLarge?: (error: ExportError) => boolean
}

/** Shrinks the page size if the failure may be due to it; otherwise rethrows it. */
export function shrinkPages(
  { onEvent }: Pick<RequestContext, 'onEvent'>,
  { size, pageSize, thrown, isTooLarge = isPageTooLarge }: FailedPage,
): void {
  if (!(thrown instanceof ExportError) || !isTooLarge(thrown)) throw thrown
  if (!size.recordFailure(pageSize, thrown)) throw tooLargeAtAnySize(thrown, pageSize)
  const reason = `${thrown.message}; requesting pages of ${size.current()} items`
  onEvent({ kind: 'retried', reason, failures: 1 })
}

function tooLargeAtAnySize(
  { code, message, status, retryAfterMs }: ExportError,
  pageSize: number,
): ExportError {
  return new ExportError(code, `${message}, even for a page of ${pageSize} items`, {
    fix: 'Run the same command again later, or raise service.timeout, or the limits of the gateway in front of the service.',
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
