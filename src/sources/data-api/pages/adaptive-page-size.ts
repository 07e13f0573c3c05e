import { ExportError } from '../../../core/model/errors.ts'
import { smallest } from '../../../core/platform/extremes.ts'
import { BodyTooLargeError } from '../../../http/decompress.ts'
import type { Requester } from '../../../http/request.ts'
import { TimeoutError } from '../../../http/send-http-request.ts'
import { PAGE_SIZE } from '../operations/call.ts'

/** Page sizes that are tried, largest first. */
const SIZES: readonly number[] = [PAGE_SIZE, 50, 25, 10]

/**
 * Page size of one listing. It shrinks when a page is too much for the service, or for a gateway in front of it, and grows
 * back: after one page where the larger size failed once (an outage looks the same), otherwise after 8 pages, 16, 32 and so
 * on up to 128, so that a fixed limit costs few failed requests.
 */
export type PageSize = {
  /** Items to ask for. */
  current(): number
  /** The smallest size that was needed so far. */
  smallest(): number
  /** Takes note that a page of the current size arrived. */
  succeed(): void
  /** Takes note that a page of this size failed; false where there is no smaller one. */
  shrink(size: number, error: ExportError): boolean
}

/** Pages before a size that failed twice is tried again, and the most of them. */
const [FIRST_WAIT, LONGEST_WAIT] = [8, 128]

export function createPageSize(): PageSize {
  const failures: number[] = SIZES.map(() => 0)
  let [at, lowest, pages] = [0, 0, 0]
  const waitFor = (size: number) => {
    const failed = failures[size] ?? 0
    return failed < 2 ? 1 : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failed - 2))
  }
  return {
    current: () => SIZES[at] ?? PAGE_SIZE,
    smallest: () => SIZES[lowest] ?? PAGE_SIZE,
    succeed: () => {
      failures[at] = 0
      lowest = Math.max(lowest, at)
      pages += 1
      if (at === 0 || pages < waitFor(at - 1)) return
      at -= 1
      pages = 0
    },
    shrink: (size, error) => {
      const failed = SIZES.indexOf(size)
      // Another request of that size failed first.
      if (failed < at) return true
      if (failed === SIZES.length - 1) return false
      at = failed
      failures[at] = (failures[at] ?? 0) + (error.status === 413 ? 2 : 1)
      at += 1
      pages = 0
      return true
    },
  }
}

export const SMALLEST_PAGE = smallest(SIZES)

/** 413, and the time-outs of servers and gateways; 524 is Cloudflare's. */
const HEAVY_STATUSES: ReadonlySet<number | undefined> = new Set([408, 413, 504, 524])

/** Whether a smaller page may succeed where this error came. */
export function isTooHeavy({ status, cause }: ExportError): boolean {
  return HEAVY_STATUSES.has(status) || cause instanceof TimeoutError || cause instanceof BodyTooLargeError
}

type Failed = { size: PageSize; pageSize: number; thrown: unknown }

/** Lets the next pages be smaller where this failure may be due to their size; throws it otherwise. */
export function shrinkPages(
  { onEvent }: Pick<Requester, 'onEvent'>,
  { size, pageSize, thrown }: Failed,
): void {
  if (!(thrown instanceof ExportError) || !isTooHeavy(thrown)) throw thrown
  if (!size.shrink(pageSize, thrown)) throw tooHeavyAtAnySize(thrown)
  const reason = `${thrown.message}; requesting pages of ${size.current()} items`
  onEvent({ kind: 'retried', reason, failures: 1 })
}

function tooHeavyAtAnySize({ code, message, status, retryAfterMs }: ExportError): ExportError {
  return new ExportError(code, `${message}, even for a page of ${SMALLEST_PAGE} items`, {
    fix: 'Run the same command again later, or raise service.timeout, or the limits of the gateway in front of the service.',
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
