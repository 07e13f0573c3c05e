import { ExportError } from '../../core/errors.ts'
import { type BlockRange, NO_END } from '../../core/model.ts'
import { type Ask, type Asker, request } from '../request.ts'
import { type Page, readPage } from './page.ts'

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
}

/** A page, what is left of the asked range after it (undefined: nothing), and the blocks that it settles. */
export type RangePage = Page & { rest: BlockRange | undefined; covered: BlockRange }

const PAGE_SIZE = 100

/**
 * Reads the pages of one wallet's block range, one after the other. Old page tokens are never needed: when the
 * service refuses, repeats or forgets one, the rest of the range is asked anew from the block where the last page
 * ended, which may list that block's items again.
 */
export async function* readRange(asker: Asker, ask: RangeAsk): AsyncGenerator<RangePage, void, void> {
  let rest: BlockRange | undefined = ask.range
  let idle = 0
  while (rest !== undefined) {
    const start: BlockRange = rest
    for await (const page of confirmed(readChain(asker, { ...ask, range: start }))) {
      rest = page.rest
      yield page
    }
    idle = rest?.from === start.from && rest.to === start.to ? idle + 1 : 0
    if (idle === IDLE_RESTARTS) throw stuck(ask)
  }
}

/** Restarts in a row that may leave as much to ask as before: a token may expire on a page that ends in its first block. */
const IDLE_RESTARTS = 3

/** Holds each page back until the next is seen to follow it: pages in a wrong order must not settle what they skip. */
async function* confirmed(pages: AsyncIterable<RangePage>): AsyncGenerator<RangePage, void, void> {
  let held: RangePage | undefined
  try {
    for await (const page of pages) {
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
    `wallet ${address}: the service repeats or refuses its own page tokens`,
  )
}

/** Follows one chain of page tokens to its end, or to the first token that leads nowhere. */
async function* readChain(asker: Asker, ask: RangeAsk): AsyncGenerator<RangePage, void, void> {
  const asked = new Set<string>()
  const { advance = (rest: BlockRange) => rest } = ask
  let rest = ask.range
  let token: string | undefined
  do {
    const page = await askPage(asker, { ...ask, rest, token })
    if (page === undefined) return
    const before = rest
    if (page.next === undefined) return yield { ...page, covered: before, rest: undefined }
    rest = restAfter(page, ask.order, before)
    const wanted = advance(rest, page)
    yield { ...page, covered: coveredBetween(before, rest), rest: wanted }
    if (wanted === undefined) return
    token = page.next
    if (asked.has(token)) return
    asked.add(token)
  } while (token !== undefined)
}

/** What a page leaves: its last block stays in, for a page may end inside a block. */
function restAfter({ edges }: Page, order: 'asc' | 'desc', rest: BlockRange): BlockRange {
  if (edges === undefined) return rest
  return order === 'asc' ? { from: edges.asc, to: rest.to } : { from: rest.from, to: edges.desc + 1 }
}

function coveredBetween(before: BlockRange, after: BlockRange): BlockRange {
  return after.to === before.to ? { from: before.from, to: after.from } : { from: after.to, to: before.to }
}

type PageAsk = RangeAsk & { rest: BlockRange; token: string | undefined }

/** One page; undefined where the service does not know the token any more. Items must lie in what is left. */
async function askPage(asker: Asker, { token, rest, ...ask }: PageAsk): Promise<Page | undefined> {
  try {
    return await request(asker, pageAsk(ask, token), (body) => readPage(body, { ...ask, range: rest }))
  } catch (thrown) {
    const refused = thrown instanceof ExportError && thrown.code === 'REQUEST_REFUSED'
    if (refused && token !== undefined) return undefined
    throw thrown
  }
}

const inWords = ({ from, to }: BlockRange) => (to === NO_END ? `from ${from} on` : `${from} to ${to}`)

function pageAsk({ chain, address, range, order }: RangeAsk, token: string | undefined): Ask {
  const query = new URLSearchParams({
    pageSize: String(PAGE_SIZE),
    sortOrder: order,
    startBlock: String(range.from),
    endBlock: String(range.to),
    ...(token === undefined ? {} : { pageToken: token }),
  })
  return {
    method: 'GET',
    pathAndQuery: `/v1/chains/${encodeURIComponent(chain)}/addresses/${address}/transactions?${query}`,
    about: `wallet ${address}, blocks ${inWords(range)}`,
  }
}
