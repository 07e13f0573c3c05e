import { LOOKBACK_BLOCKS, SMALL_BODY_BYTES } from '../../../core/model/limits.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import { type RequestContext, type RequestSpec, request } from '../../../http/request.ts'
import { path, queryOf } from '../operations/path.ts'
import { type AdaptivePageSize, isPageTooLarge, MIN_PAGE_SIZE } from './adaptive-page-size.ts'
import { endlessListingError, MAX_IDLE_PAGES } from './endless-listing.ts'
import { ignoreRefusedToken } from './ignore-refused-token.ts'
import { type Page, type PageLimits, readPage } from './page.ts'
import { createPageOrderGuard } from './page-order-guard.ts'

export type RangeSpec = {
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
  narrowRange?: (rest: BlockRange, page: Page) => BlockRange | undefined
  /** Reads a body as `readPage` does, which is the default: another thread may do it. */
  read?: (body: Buffer, limits: PageLimits) => Page | Promise<Page>
  /** Items a page, which all readers of a wallet share. @default one of its own */
  size?: AdaptivePageSize
  /** The highest block known so far, where that is near the chain's head. @default what an open range shows */
  head?: () => number | undefined
  /** So many blocks below the head may change between two requests. @default 32 */
  mutableBlocks?: number | undefined
}

/** A page, what is left of the asked range after it (undefined: nothing), and the blocks that it settles. */
export type RangePage = Page & { rest: BlockRange | undefined; covered: BlockRange }

/** Stands for a page that shows what the one before it skipped. */
export const GAP_FOUND = 'skipped'

export type TokenChainSpec = RangeSpec & {
  size: AdaptivePageSize
  /** No second was seen in two orders. Where one was, tokens are followed inside a second only, all else goes by blocks. */
  hasStableOrder: boolean
  /** Called where a second comes in another order than before. */
  onReordered: () => void
  /** Items that may still be listed twice in order to do without page tokens; changed in place. */
  repeatBudget: { items: number }
}

/**
 * Follows one chain of page tokens to its end, to the first token that leads nowhere, or to a page after which the rest is
 * to be requested by blocks. All its pages have one size: a token may count pages.
 *
 * A token may also be an offset. When items before it come or go, the next page repeats or skips some, and no page shows
 * what was skipped. So after each page of an open range, and in the last `mutableBlocks` blocks, the rest is requested as a
 * range of its own, which changes outside cannot shift. Elsewhere this is done where the token looks like an offset and it
 * costs at most 1 % more requests: where one item in a hundred is listed twice, for the first 100 such pages. The rest is
 * requested as a range of its own after a large page too, so that readers do not keep large pages while they wait for the next.
 */
export async function* readTokenChain(
  requestContext: RequestContext,
  spec: TokenChainSpec,
): AsyncGenerator<RangePage | typeof GAP_FOUND, void, void> {
  const seenTokens = new Set<string>()
  const { narrowRange = (rest: BlockRange) => rest, size } = spec
  const pageSize = size.current()
  const guard = createPageOrderGuard(spec.order, spec.range)
  let token: string | undefined
  let idle = 0
  do {
    const page = await fetchPage(requestContext, { ...spec, pageSize }, token)
    if (page === undefined) return
    if (guard.hasGap(page.keys)) return yield GAP_FOUND
    if (guard.isReordered(page.keys)) return spec.onReordered()
    size.recordSuccess()
    const before = guard.remainingRange()
    if (page.next === undefined) return yield { ...page, covered: before, rest: undefined }
    idle = guard.add(page.keys) ? 0 : idle + 1
    if (idle === MAX_IDLE_PAGES) throw endlessListingError(describeRange(spec))
    const rest = guard.remainingRange()
    const remaining = narrowRange(rest, page)
    yield { ...page, covered: coveredBetween(before, rest), rest: remaining }
    if (remaining === undefined) return
    const isResized = pageSize !== size.current()
    const isFinished =
      isResized || shouldContinueByBlocks(spec, { page, rest, repeats: guard.repeatedItems() })
    if (isFinished && !isSameRange(rest, spec.range)) return
    token = page.next
    if (seenTokens.has(token)) return
    seenTokens.add(token)
  } while (token !== undefined)
}

/** Whether a page's body needs a share of the memory for large bodies. */
export const isLargePage = ({ body }: Page) => body.length > SMALL_BODY_BYTES

type PageProgress = { page: Page; rest: BlockRange; repeats: number }

/** Whether the rest of the range is to be requested by blocks, since a page token might skip items of it. */
function shouldContinueByBlocks(spec: TokenChainSpec, { page, rest, repeats }: PageProgress): boolean {
  const { hasStableOrder, range, order, head, mutableBlocks = LOOKBACK_BLOCKS, repeatBudget } = spec
  if (!hasStableOrder) return true
  // What an unsorted page skipped is shown by the page of its token.
  if (!isSorted(page, order)) return false
  const headBlock = head?.()
  // Changes shift a page whose token counts from there: from the newest item of the range, or from the oldest.
  const isMutable =
    headBlock !== undefined && (order === 'asc' ? rest.from : range.to) > headBlock - mutableBlocks
  if (range.to === NO_END || isMutable || isLargePage(page)) return true
  if (!looksLikeOffset(page) || repeats > page.items * MAX_REPEATED_SHARE || repeats > repeatBudget.items)
    return false
  repeatBudget.items -= repeats
  return true
}

/** Share of a page's items that may be listed twice, and how many in a range. */
const MAX_REPEATED_SHARE = 0.01
export const MAX_REPEATED_ITEMS = 100

/** Whether a page's token is a number, or has the page's number of items in it, as it stands or in base64. */
function looksLikeOffset({ next = '', items }: Page): boolean {
  const texts = [next, Buffer.from(next, 'base64').toString('latin1')]
  const isCount = ([digits]: RegExpMatchArray) => digits === String(items)
  return /^\d+$/.test(next) || texts.some((text) => [...text.matchAll(/\d+/g)].some(isCount))
}

function isSorted({ keys }: Page, order: 'asc' | 'desc'): boolean {
  return keys.every(({ second }, index) => {
    const previous = keys[index - 1]?.second ?? second
    return order === 'asc' ? second >= previous : second <= previous
  })
}

export const isSameRange = (a: BlockRange, b: BlockRange) => a.from === b.from && a.to === b.to

function coveredBetween(before: BlockRange, after: BlockRange): BlockRange {
  return after.to === before.to ? { from: before.from, to: after.from } : { from: after.to, to: before.to }
}

/** One page; undefined where the service does not know the token any more. Items must lie in the asked range. */
export async function fetchPage(
  requestContext: RequestContext,
  spec: RangeSpec & { pageSize: number },
  token: string | undefined,
): Promise<Page | undefined> {
  const { chain, range, cutMs, order, read = readPage } = spec
  const response = request(requestContext, pageSpec(spec, token), (body) =>
    read(body, { chain, range, cutMs, order }),
  )
  return response.catch(ignoreRefusedToken(token))
}

const formatRange = ({ from, to }: BlockRange) => (to === NO_END ? `from ${from} on` : `${from} to ${to}`)

const describeRange = ({ address, range }: RangeSpec) => `wallet ${address}, blocks ${formatRange(range)}`

function pageSpec(spec: RangeSpec & { pageSize: number }, token: string | undefined): RequestSpec {
  const { chain, address, range, order, pageSize } = spec
  const blocks = { startBlock: range.from, endBlock: range.to }
  const query = queryOf({ pageSize, sortOrder: order, ...blocks, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/chains/${chain}/addresses/${address}/transactions` + query,
    label: describeRange(spec),
    isHandledByCaller: (error) => pageSize > MIN_PAGE_SIZE && isPageTooLarge(error),
  }
}
