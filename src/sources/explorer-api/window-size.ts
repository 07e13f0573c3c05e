import { ExportError } from '../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../core/model/model.ts'
import type { RequestContext } from '../../http/request.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
  isPageTooLarge,
  isTimeout,
  newSharedPageLimit,
  shrinkPages,
} from '../adaptive-page-size.ts'
import { type ChainRequest, requestHead } from './requests.ts'

/** Records of one answer, largest first. Smaller ones are requested if an answer is too large for the service. */
export const WINDOW_SIZES = [10_000, 1_000, 100, 10] as const
export const MAX_WINDOW = WINDOW_SIZES[0]
const MIN_WINDOW = WINDOW_SIZES[3]

/** After a timeout, an answer of this size is requested of fewer blocks before its size is reduced further. */
const TIMEOUT_WINDOW = WINDOW_SIZES[1]

/** Numbers of blocks that are requested at once after a range of `blocks` timed out, largest first. */
function spansBelow(blocks: number): readonly [number, ...number[]] {
  const halvings = Math.max(1, Math.ceil(Math.log2(blocks)))
  const halves = Array.from({ length: halvings }, (_, at) => Math.max(1, Math.floor(blocks / 2 ** (at + 1))))
  return [Number.POSITIVE_INFINITY, ...new Set(halves)]
}

/**
 * The number of blocks that are requested of one listing at once: all, until the service has timed out for them. It is
 * halved then, and grows back like the size of pages.
 */
export type BlockSpan = {
  /** The blocks to request of a range, from the start that `order` names. */
  firstBlocks(range: BlockRange, order: 'asc' | 'desc'): BlockRange
  /** Whether fewer blocks than these can be requested. */
  canShrink(range: BlockRange): boolean
  recordSuccess(): void
  /** Sets the head of the chain, at which open ranges end. */
  recordHead(head: number): void
  /** Records that the service timed out for blocks. */
  recordTimeout(range: BlockRange, error: ExportError): void
}

export function createBlockSpan(): BlockSpan {
  let span: AdaptivePageSize | undefined
  let end = NO_END
  const blocksAtOnce = () => span?.current() ?? Number.POSITIVE_INFINITY
  const endOf = ({ from, to }: BlockRange) => (to === NO_END ? Math.max(from, end) : to)
  return {
    firstBlocks: ({ from, to }, order) => {
      const last = endOf({ from, to })
      const blocks = blocksAtOnce()
      if (last - from <= blocks) return { from, to }
      return order === 'asc' ? { from, to: from + blocks } : { from: last - blocks, to }
    },
    canShrink: (range) => endOf(range) - range.from > 1,
    recordSuccess: () => span?.recordSuccess(),
    recordHead: (block) => {
      end = block + 1
    },
    recordTimeout: (range, error) => {
      const blocks = endOf(range) - range.from
      span ??= createAdaptivePageSize(newSharedPageLimit(), spansBelow(blocks))
      while (span.current() >= blocks && span.recordFailure(span.current(), error));
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
  if (
    !(thrown instanceof ExportError && isTimeout(thrown)) ||
    offset > TIMEOUT_WINDOW ||
    !span.canShrink(range)
  )
    return shrinkPages(requestContext, { size, pageSize: offset, thrown, isTooLarge: isWindowTooLarge })
  if (range.to === NO_END) span.recordHead(await requestHead(requestContext, chain))
  span.recordTimeout(range, thrown)
  const reason = `${thrown.message}; requesting fewer blocks`
  requestContext.onEvent({ kind: 'retried', reason, failures: 1 })
}
