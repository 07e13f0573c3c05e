import { ExportError } from '../../../core/model/errors.ts'
import { SMALL_BODY_BYTES } from '../../../core/model/limits.ts'
import { LOOKBACK_BLOCKS, LOOKBACK_MS } from '../../../core/model/lookback.ts'
import { type BlockRange, NO_END } from '../../../core/model/model.ts'
import { type RequestContext, type RequestSpec, request } from '../../../http/request.ts'
import {
  type AdaptivePageSize,
  createAdaptivePageSize,
  isPageTooLarge,
  MIN_PAGE_SIZE,
  type SharedPageLimit,
  shrinkPages,
} from '../../adaptive-page-size.ts'
import type { Page, RangePage, RangeRequest } from '../../source.ts'
import { path, queryOf } from '../operations/call.ts'
import { readPage } from './page.ts'
import {
  countIdlePage,
  createPageOrderGuard,
  ignoreRefusedToken,
  MAX_IDLE_RESTARTS,
  NO_IDLE_PAGES,
} from './page-guards.ts'

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
  const { paging = newPaging() } = spec
  const { size } = paging
  const head = trackHead(spec)
  let rest: BlockRange | undefined = spec.range
  // The order of the internal transactions of one transaction cannot be checked.
  let [idle, maxPages, hasStableOrder] = [0, 0, spec.listing !== 'internal']
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
      paging,
      head: head.block,
      headSecond: head.second(),
      hasStableOrder,
      onReordered,
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

/** Tracks the highest known block, from other readers and from pages of an open range, and the time of the head. */
function trackHead({ range, head, cutoffMs }: RangeSpec) {
  let observed: number | undefined
  let second = 0
  return {
    observe: ({ blocks, keys }: RangePage) => {
      if (range.to !== NO_END || blocks === undefined) return
      observed = Math.max(observed ?? 0, blocks.max)
      second = Math.max(second, newestSecond(keys))
    },
    /** The time of the newest item of an open range; elsewhere that of the newest items that may be exported. */
    second: () => second || cutoffMs / 1000,
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

const newestSecond = (keys: Page['keys']): number =>
  keys.reduce((newest, { second }) => Math.max(newest, second), 0)

const coversNothing = ({ covered }: RangePage) => covered.from >= covered.to

function noProgressError({ address }: RangeSpec): ExportError {
  return new ExportError(
    'PAGE_MALFORMED',
    `wallet ${address}: the service repeats or refuses its own page tokens, or its pages are in no order`,
  )
}

export type RangeSpec = RangeRequest & {
  chain: string
  address: string
  /** What all readers of a listing share. @default its own */
  paging?: Paging
  /** @default transactions */
  listing?: 'transactions' | 'internal'
}

/** What the readers of one listing share: the size of its pages, and how many items may still be listed twice. */
export type Paging = { readonly size: AdaptivePageSize; repeatsLeft: number }

export const newPaging = (limit?: SharedPageLimit): Paging => ({
  size: createAdaptivePageSize(limit),
  repeatsLeft: MAX_REPEATED_ITEMS,
})

/** Yielded instead of a page that reveals a gap before it. */
export const GAP_FOUND = 'skipped'

export type TokenChainSpec = RangeSpec & {
  paging: Paging
  /**
   * False once a second was listed in two different orders. Tokens are then followed within a second only;
   * everything else is requested by blocks.
   */
  hasStableOrder: boolean
  /** Called when a second is listed in another order than before. */
  onReordered: () => void
  /** Time of the head, in seconds since 1970. */
  headSecond: number
}

/**
 * Follows a chain of page tokens to its end, to the first unusable token, or to a page after which the rest
 * is to be requested by blocks. All its pages have the same size, because a token may count pages.
 *
 * A token may be an offset. If items before it appear or disappear, the next page repeats or skips some, and
 * a skipped item remains undetected. Therefore, after each page of an open range and within the last
 * `mutableBlocks` blocks and ten minutes, the rest is requested as a separate range, which outside changes cannot shift.
 * Elsewhere this is done if the token looks like an offset and the cost is at most 1 % more requests: if at
 * most one item in a hundred is listed twice, up to 100 items per listing. The rest is also requested as a
 * separate range after a large page, so that readers do not hold large pages while they wait for the next
 * one.
 */
export async function* readTokenChain(
  requestContext: RequestContext,
  spec: TokenChainSpec,
): AsyncGenerator<RangePage | typeof GAP_FOUND, void, void> {
  const seenTokens = new Set<string>()
  const { narrowRange = (rest: BlockRange) => rest } = spec
  const { size } = spec.paging
  const pageSize = size.current()
  const guard = createPageOrderGuard(spec.order, spec.range)
  let newest = 0
  let token: string | undefined
  let idle = NO_IDLE_PAGES
  do {
    const page = await fetchPage(requestContext, { ...spec, pageSize }, token)
    if (page === undefined) return
    if (guard.hasGap(page.keys)) return yield GAP_FOUND
    if (guard.isReordered(page.keys)) return spec.onReordered()
    size.recordSuccess()
    const before = guard.remainingRange()
    const isContinued = token !== undefined
    if (page.next === undefined) return yield { ...page, covered: before, rest: undefined, isContinued }
    const internals = spec.listing === 'internal' ? page.items : 0
    idle = guard.add(page.keys) ? NO_IDLE_PAGES : countIdlePage(idle, internals, describeRange(spec))
    const rest = guard.remainingRange()
    const remaining = narrowRange(rest, page)
    yield { ...page, covered: coveredBetween(before, rest), rest: remaining, isContinued }
    if (remaining === undefined) return
    const isResized = pageSize !== size.current()
    newest = Math.max(newest, newestSecond(page.keys))
    const progress = { page, rest, newest, repeats: guard.repeatedItems() }
    const isFinished = isResized || shouldContinueByBlocks(spec, progress)
    if (isFinished && !isSameRange(rest, spec.range)) return
    token = page.next
    if (seenTokens.has(token)) return
    seenTokens.add(token)
  } while (token !== undefined)
}

/** Whether a page's body is large enough to need a share of the memory budget. */
const isLargePage = ({ body }: Page) => body.length > SMALL_BODY_BYTES

/** `newest`: the newest second of all pages of the chain. */
type PageProgress = { page: Page; rest: BlockRange; newest: number; repeats: number }

/** Whether the remaining range should be requested by blocks, because a page token might skip items. */
function shouldContinueByBlocks(
  spec: TokenChainSpec,
  { page, rest, newest, repeats }: PageProgress,
): boolean {
  const { hasStableOrder, range, order, head, mutableBlocks = LOOKBACK_BLOCKS, paging } = spec
  if (!hasStableOrder) return true
  // The page of its token reveals what an unsorted page has skipped.
  if (!isSorted(page, order)) return false
  const headBlock = head?.()
  // Changes shift pages whose token counts from that end: the newest item of the range, or the oldest.
  const isMutable =
    newest > spec.headSecond - LOOKBACK_MS / 1000 ||
    (headBlock !== undefined && (order === 'asc' ? rest.from : range.to) > headBlock - mutableBlocks)
  if (range.to === NO_END || isMutable || isLargePage(page)) return true
  if (!looksLikeOffset(page) || repeats > page.items * MAX_REPEATED_SHARE || repeats > paging.repeatsLeft)
    return false
  paging.repeatsLeft -= repeats
  return true
}

/** Maximum share of a page's items that may be listed twice, and the maximum number per listing. */
const MAX_REPEATED_SHARE = 0.01
const MAX_REPEATED_ITEMS = 100

/** Whether a page's token is a number, or contains the page's number of items, as plain text or in base64. */
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

/**
 * Fetches one page; undefined if the service no longer accepts the token. Items must be within the requested
 * range.
 */
export async function fetchPage(
  requestContext: RequestContext,
  spec: RangeSpec & { pageSize: number },
  token: string | undefined,
): Promise<Page | undefined> {
  const { chain, range, cutoffMs, order, read = readPage } = spec
  const response = request(requestContext, pageSpec(spec, token), (body) =>
    read(body, { chain, range, cutoffMs, order, ...(token === undefined ? {} : { isContinued: true }) }),
  )
  return response.catch(ignoreRefusedToken(token))
}

/** Names a half-open range by its first and last block, like all text for users. */
export function formatRange({ from, to }: BlockRange): string {
  if (to === NO_END) return `blocks from ${from} on`
  return to - from === 1 ? `block ${from}` : `blocks ${from} to ${to - 1}`
}

const describeRange = ({ address, range, listing }: RangeSpec) =>
  `${listing === 'internal' ? 'internal transactions of ' : ''}wallet ${address}, ${formatRange(range)}`

function pageSpec(spec: RangeSpec & { pageSize: number }, token: string | undefined): RequestSpec {
  const { chain, address, range, order, pageSize } = spec
  const blocks = { startBlock: range.from, endBlock: range.to }
  const query = queryOf({ pageSize, sortOrder: order, ...blocks, pageToken: token })
  const transactions = path`/v1/chains/${chain}/addresses/${address}/transactions`
  return {
    method: 'GET',
    pathAndQuery: `${transactions}${spec.listing === 'internal' ? ':listInternals' : ''}${query}`,
    description: describeRange(spec),
    isHandledByCaller: (error) => pageSize > MIN_PAGE_SIZE && isPageTooLarge(error),
  }
}
