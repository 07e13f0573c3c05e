import { ExportError } from '../../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import type { RequestContext } from '../../../http/request.ts'
import { createAdaptivePageSize, shrinkPages } from '../../adaptive-page-size.ts'
import type { RangePage } from '../../source.ts'
import { MAX_IDLE_RESTARTS } from './endless-listing.ts'
import {
  GAP_FOUND,
  isLargePage,
  isSameRange,
  MAX_REPEATED_ITEMS,
  type RangeSpec,
  readTokenChain,
} from './read-token-chain.ts'

/**
 * Reads the pages of one wallet's block range, one after the other. Reading never depends on old page tokens:
 * if the service refuses or repeats one, or lists a second in a different order than before, the remaining
 * range is requested anew, including the whole second in which the last page ended, so items may be repeated.
 * If a page is too large for the service (413, 504, a timeout), the rest is requested in smaller pages.
 *
 * @param readChain follows the page tokens of the listing. @default those of a wallet's transactions
 * @throws PAGE_MALFORMED if reading makes no progress
 */
export async function* readRange(
  requestContext: RequestContext,
  spec: RangeSpec,
  readChain: typeof readTokenChain = readTokenChain,
): AsyncGenerator<RangePage, void, void> {
  const { size = createAdaptivePageSize() } = spec
  const head = trackHead(spec)
  let rest: BlockRange | undefined = spec.range
  // The order of the internal transactions of one transaction cannot be checked.
  let [idle, maxPages, hasStableOrder] = [0, 0, spec.listing !== 'internal']
  const repeatBudget = { items: MAX_REPEATED_ITEMS }
  const onReordered = () => {
    hasStableOrder = false
  }
  while (rest !== undefined) {
    const start: BlockRange = rest
    const pageSize = size.current()
    let pages = 0
    let isShrunk = false
    const chainSpec = {
      ...spec,
      range: start,
      size,
      head: head.block,
      hasStableOrder,
      onReordered,
      repeatBudget,
    }
    try {
      for await (const page of withConfirmedOrder(readChain(requestContext, chainSpec))) {
        head.observe(page)
        rest = page.rest
        pages += 1
        yield page
      }
    } catch (thrown) {
      shrinkPages(requestContext, { size, pageSize, thrown })
      isShrunk = true
    }
    const hasProgressed = rest === undefined || !isSameRange(rest, start)
    idle = hasProgressed || isShrunk || pages > maxPages ? 0 : idle + 1
    maxPages = hasProgressed ? 0 : Math.max(maxPages, pages)
    if (idle === MAX_IDLE_RESTARTS) throw noProgressError(spec)
  }
}

/** Tracks the highest known block: from other readers, and from pages of an open range. */
function trackHead({ range, head }: RangeSpec) {
  let observed: number | undefined
  return {
    observe: ({ blocks }: RangePage) => {
      if (range.to === NO_END && blocks !== undefined) observed = Math.max(observed ?? 0, blocks.max)
    },
    block: () => {
      const known = head?.()
      return known === undefined || observed === undefined ? (known ?? observed) : Math.max(known, observed)
    },
  }
}

/**
 * Delays each page until the next one has confirmed its order: pages in a wrong order must not mark skipped
 * blocks as complete. Large pages that complete no block are passed on immediately.
 */
async function* withConfirmedOrder(
  pages: AsyncIterable<RangePage | typeof GAP_FOUND>,
): AsyncGenerator<RangePage, void, void> {
  let pending: RangePage | undefined
  try {
    for await (const page of pages) {
      if (page === GAP_FOUND) return
      if (pending !== undefined) yield pending
      pending = undefined
      if (isLargePage(page) && coversNothing(page)) yield page
      else pending = page
    }
  } catch (thrown) {
    const isMalformed = thrown instanceof ExportError && thrown.code === 'PAGE_MALFORMED'
    if (pending !== undefined && !isMalformed) yield pending
    throw thrown
  }
  if (pending !== undefined) yield pending
}

const coversNothing = ({ covered }: RangePage) => covered.from >= covered.to

function noProgressError({ address }: RangeSpec): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `wallet ${address}: the service repeats or refuses its own page tokens, or its pages are in no order`,
  )
}
