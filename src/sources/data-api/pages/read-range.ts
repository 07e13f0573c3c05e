import { ExportError } from '../../../core/model/errors.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import type { Requester } from '../../../http/request.ts'
import { createPageSize, shrinkPages } from './adaptive-page-size.ts'
import {
  isLarge,
  isSame,
  type RangeAsk,
  type RangePage,
  readChain,
  SKIPPED,
  SPARE_ITEMS,
} from './read-token-chain.ts'

export type { RangeAsk, RangePage } from './read-token-chain.ts'

/**
 * Reads the pages of one wallet's block range, one after the other. Old page tokens are never needed: when the
 * service refuses, repeats or forgets one, or lists a second in another order than before, the rest of the range is asked
 * anew, the whole second in which the last page ended included, which may list items again. Where a page is too much for the
 * service (413, 504, a time-out), the rest is requested in smaller pages.
 */
export async function* readRange(requester: Requester, ask: RangeAsk): AsyncGenerator<RangePage, void, void> {
  const { size = createPageSize() } = ask
  const head = headOf(ask)
  let rest: BlockRange | undefined = ask.range
  let [idle, most, isSteady] = [0, 0, true]
  const spare = { items: SPARE_ITEMS }
  const onReordered = () => {
    isSteady = false
  }
  while (rest !== undefined) {
    const start: BlockRange = rest
    const pageSize = size.current()
    let pages = 0
    let isSmaller = false
    const chain = { ...ask, range: start, size, head: head.block, isSteady, onReordered, spare }
    try {
      for await (const page of confirmed(readChain(requester, chain))) {
        head.see(page)
        rest = page.rest
        pages += 1
        yield page
      }
    } catch (thrown) {
      shrinkPages(requester, { size, pageSize, thrown })
      isSmaller = true
    }
    const isMoved = rest === undefined || !isSame(rest, start)
    idle = isMoved || isSmaller || pages > most ? 0 : idle + 1
    most = isMoved ? 0 : Math.max(most, pages)
    if (idle === IDLE_RESTARTS) throw stuck(ask)
  }
}

/** Restarts in a row that may get no further: a token may expire on a page that ends in the second it began with. */
const IDLE_RESTARTS = 3

/** The highest block known: what others know of the head, and what pages of an open range show. */
function headOf({ range, head }: RangeAsk) {
  let shown: number | undefined
  return {
    see: ({ blocks }: RangePage) => {
      if (range.to === NO_END && blocks !== undefined) shown = Math.max(shown ?? 0, blocks.max)
    },
    block: () => {
      const known = head?.()
      return known === undefined || shown === undefined ? (known ?? shown) : Math.max(known, shown)
    },
  }
}

/**
 * Holds each page back until the next is seen to follow it: pages in a wrong order must not settle what they skip. Large pages
 * that settle nothing are passed on at once.
 */
async function* confirmed(
  pages: AsyncIterable<RangePage | typeof SKIPPED>,
): AsyncGenerator<RangePage, void, void> {
  let held: RangePage | undefined
  try {
    for await (const page of pages) {
      if (page === SKIPPED) return
      if (held !== undefined) yield held
      held = undefined
      if (isLarge(page) && settlesNothing(page)) yield page
      else held = page
    }
  } catch (thrown) {
    const wrong = thrown instanceof ExportError && thrown.code === 'PAGE_MALFORMED'
    if (held !== undefined && !wrong) yield held
    throw thrown
  }
  if (held !== undefined) yield held
}

const settlesNothing = ({ covered }: RangePage) => covered.from >= covered.to

function stuck({ address }: RangeAsk): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `wallet ${address}: the service repeats or refuses its own page tokens, or its pages are in no order`,
  )
}
