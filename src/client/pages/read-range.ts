import { ExportError } from '../../core/errors.ts'
import { type BlockRange, NO_END } from '../../core/model.ts'
import { PAGE_SIZE } from '../operations/call.ts'
import { path, queryOf } from '../operations/path.ts'
import { type Ask, type Requester, request } from '../request.ts'
import { type Page, type PageLimits, readPage } from './page.ts'
import { refusedToken } from './refused-token.ts'
import { createShownItems } from './shown-items.ts'

export type RangeAsk = {
  chain: string
  address: string
  range: BlockRange
  /** `desc` starts at the newest block: the first page of a run without endBlock says where the head is. */
  order: 'asc' | 'desc'
  /** Items younger than this (milliseconds since 1970) do not count for the pin. */
  cutMs: number
  /**
   * Called with each page as it comes and with what is left of the asked range after it; answers with what is still
   * wanted of that, undefined for nothing: other readers may have taken some. Absent: all of it is.
   */
  advance?: (rest: BlockRange, page: Page) => BlockRange | undefined
  /** Reads a body as `readPage` does, which is the default: another thread may do it. */
  read?: (body: Buffer, limits: PageLimits) => Page | Promise<Page>
}

/** A page, what is left of the asked range after it (undefined: nothing), and the blocks that it settles. */
export type RangePage = Page & { rest: BlockRange | undefined; covered: BlockRange }

/**
 * Reads the pages of one wallet's block range, one after the other. Old page tokens are never needed: when the
 * service refuses, repeats or forgets one, or lists a second in another order than before, the rest of the range is asked
 * anew, the whole second in which the last page ended included, which may list items again.
 */
export async function* readRange(requester: Requester, ask: RangeAsk): AsyncGenerator<RangePage, void, void> {
  let rest: BlockRange | undefined = ask.range
  let [idle, most, isSteady] = [0, 0, true]
  const onReordered = () => {
    isSteady = false
  }
  while (rest !== undefined) {
    const start: BlockRange = rest
    let pages = 0
    for await (const page of confirmed(
      readChain(requester, { ...ask, range: start, isSteady, onReordered }),
    )) {
      rest = page.rest
      pages += 1
      yield page
    }
    const isMoved = rest === undefined || !isSame(rest, start)
    idle = isMoved || pages > most ? 0 : idle + 1
    most = isMoved ? 0 : Math.max(most, pages)
    if (idle === IDLE_RESTARTS) throw stuck(ask)
  }
}

/** Restarts in a row that may get no further: a token may expire on a page that ends in the second it began with. */
const IDLE_RESTARTS = 3

/** Stands for a page that shows what the one before it skipped. */
const SKIPPED = 'skipped'

/** Holds each page back until the next is seen to follow it: pages in a wrong order must not settle what they skip. */
async function* confirmed(
  pages: AsyncIterable<RangePage | typeof SKIPPED>,
): AsyncGenerator<RangePage, void, void> {
  let held: RangePage | undefined
  try {
    for await (const page of pages) {
      if (page === SKIPPED) return
      if (held !== undefined) yield held
      held = page
    }
  } catch (thrown) {
    const wrong = thrown instanceof ExportError && thrown.code === 'PAGE_MALFORMED'
    if (held !== undefined && !wrong) yield held
    throw thrown
  }
  if (held !== undefined) yield held
}

function stuck({ address }: RangeAsk): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `wallet ${address}: the service repeats or refuses its own page tokens, or its pages are in no order`,
  )
}

type ChainAsk = RangeAsk & {
  /** No second was seen in two orders. Where one was, tokens are followed inside a second only, all else goes by blocks. */
  isSteady: boolean
  /** Called where a second comes in another order than before. */
  onReordered: () => void
}

/** Follows one chain of page tokens to its end, or to the first token that leads nowhere. */
async function* readChain(
  requester: Requester,
  ask: ChainAsk,
): AsyncGenerator<RangePage | typeof SKIPPED, void, void> {
  const asked = new Set<string>()
  const { advance = (rest: BlockRange) => rest } = ask
  const shown = createShownItems(ask.order, ask.range)
  let token: string | undefined
  do {
    const page = await askPage(requester, ask, token)
    if (page === undefined) return
    if (shown.wereSkipped(page.keys)) return yield SKIPPED
    if (shown.isReordered(page.keys)) return ask.onReordered()
    const before = shown.rest()
    if (page.next === undefined) return yield { ...page, covered: before, rest: undefined }
    shown.add(page.keys)
    const rest = shown.rest()
    const wanted = advance(rest, page)
    yield { ...page, covered: coveredBetween(before, rest), rest: wanted }
    if (wanted === undefined || (!ask.isSteady && !isSame(rest, ask.range))) return
    token = page.next
    if (asked.has(token)) return
    asked.add(token)
  } while (token !== undefined)
}

const isSame = (a: BlockRange, b: BlockRange) => a.from === b.from && a.to === b.to

function coveredBetween(before: BlockRange, after: BlockRange): BlockRange {
  return after.to === before.to ? { from: before.from, to: after.from } : { from: after.to, to: before.to }
}

/** One page; undefined where the service does not know the token any more. Items must lie in the asked range. */
async function askPage(
  requester: Requester,
  ask: RangeAsk,
  token: string | undefined,
): Promise<Page | undefined> {
  const { chain, range, cutMs, order, read = readPage } = ask
  const asking = request(requester, pageAsk(ask, token), (body) => read(body, { chain, range, cutMs, order }))
  return asking.catch(refusedToken(token))
}

const inWords = ({ from, to }: BlockRange) => (to === NO_END ? `from ${from} on` : `${from} to ${to}`)

function pageAsk({ chain, address, range, order }: RangeAsk, token: string | undefined): Ask {
  const blocks = { startBlock: range.from, endBlock: range.to }
  const query = queryOf({ pageSize: PAGE_SIZE, sortOrder: order, ...blocks, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/chains/${chain}/addresses/${address}/transactions` + query,
    about: `wallet ${address}, blocks ${inWords(range)}`,
  }
}
