import { ExportError } from '../../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import type { RequestContext } from '../../../http/request.ts'
import { TimeoutError } from '../../../http/send-http-request.ts'
import { type AdaptivePageSize, isPageTooLarge, shrinkPages } from '../../adaptive-page-size.ts'
import { type ChainRequest, requestHead } from '../requests/request-head.ts'

/** Records of one answer, largest first. Smaller ones are requested if an answer is too large for the service. */
export const WINDOW_SIZES = [10_000, 1_000, 100, 10] as const
export const MAX_WINDOW = WINDOW_SIZES[0]
const MIN_WINDOW = WINDOW_SIZES[3]

/** After a timeout, an answer of this size is requested of fewer blocks before its size is reduced further. */
const TIMEOUT_WINDOW = WINDOW_SIZES[1]

/** By what the number of blocks is divided after a timeout, and multiplied after an answer. */
const [SHRINK_FACTOR, GROWTH_FACTOR] = [8, 2]

/**
 * The number of blocks that are requested of one listing at once: all, until the service has timed out for them. It
 * shrinks after a timeout, and grows after an answer.
 */
export type BlockSpan = {
  /** The blocks to request of a range, from the start that `order` names. */
  firstBlocks(range: BlockRange, order: 'asc' | 'desc'): BlockRange
  /** Whether fewer blocks than these can be requested. */
  canShrink(range: BlockRange): boolean
  recordSuccess(): void
  /**
   * Records that the service timed out for blocks.
   *
   * @param range with the end at the head of the chain if it is open
   */
  recordTimeout(range: BlockRange): void
}

export function createBlockSpan(): BlockSpan {
  let [blocks, head] = [Number.POSITIVE_INFINITY, NO_END]
  const endOf = ({ from, to }: BlockRange) => (to === NO_END ? Math.max(from, head) : to)
  return {
    firstBlocks: ({ from, to }, order) => {
      const end = endOf({ from, to })
      if (end - from <= blocks) return { from, to }
      return order === 'asc' ? { from, to: from + blocks } : { from: end - blocks, to }
    },
    canShrink: (range) => endOf(range) - range.from > 1,
    recordSuccess: () => {
      blocks *= GROWTH_FACTOR
    },
    recordTimeout: ({ from, to }) => {
      head = head === NO_END ? to : Math.max(head, to)
      blocks = Math.max(1, Math.min(blocks, Math.floor((to - from) / SHRINK_FACTOR)))
    },
  }
}

/** Whether a smaller window may succeed after this error. Routescan answers with 502 if a window is too large. */
export function isWindowTooLarge(error: ExportError): boolean {
  return isPageTooLarge(error) || error.status === 502
}

type RequestedWindow = { range: BlockRange; offset: number; span: BlockSpan }

/** Whether fewer records or fewer blocks may be answered after this error, which shows that there were too many. */
export function canShrink(error: ExportError, { range, offset, span }: RequestedWindow): boolean {
  return offset > MIN_WINDOW || (isTimeout(error) && span.canShrink(range))
}

type FailedWindow = RequestedWindow & ChainRequest & { size: AdaptivePageSize; thrown: unknown }

/** Reduces the number of records or of blocks if the failure may be due to it; otherwise rethrows it. */
export async function shrinkWindow(
  requestContext: RequestContext,
  { size, span, thrown, range, offset, ...chain }: FailedWindow,
): Promise<void> {
  if (!isTimeout(thrown) || offset > TIMEOUT_WINDOW || !span.canShrink(range))
    return shrinkPages(requestContext, { size, pageSize: offset, thrown, isTooLarge: isWindowTooLarge })
  const to = range.to === NO_END ? (await requestHead(requestContext, chain)) + 1 : range.to
  span.recordTimeout({ from: range.from, to: Math.max(to, range.from) })
  const reason = `${thrown.message}; requesting fewer blocks`
  requestContext.onEvent({ kind: 'retried', reason, failures: 1 })
}

/** The statuses of timeouts of servers and gateways; 524 is Cloudflare's. */
const TIMEOUT_STATUSES: ReadonlySet<number | undefined> = new Set([408, 504, 524])

function isTimeout(thrown: unknown): thrown is ExportError {
  return (
    thrown instanceof ExportError &&
    (TIMEOUT_STATUSES.has(thrown.status) || thrown.cause instanceof TimeoutError)
  )
}
