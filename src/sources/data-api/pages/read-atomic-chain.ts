import { atomicNetworkOf } from '../../../core/model/chains.ts'
import { ExportError } from '../../../core/model/errors.ts'
import type { BlockRange } from '../../../core/model/model.ts'
import { toText } from '../../../core/platform/byte-text.ts'
import { previewJson } from '../../../core/platform/json-text.ts'
import { type RequestContext, type RequestSpec, request } from '../../../http/request.ts'
import { isPageTooLarge, MIN_PAGE_SIZE } from '../../adaptive-page-size.ts'
import { isWrongOrder, parseBody, unsortedError } from '../../check-page.ts'
import type { Page, PageKey, RangePage } from '../../source.ts'
import { splitPage } from '../../split-list.ts'
import { path, queryOf } from '../operations/call.ts'
import { itemsOf, readPage } from './page.ts'
import {
  createPageOrderGuard,
  endlessListingError,
  ignoreRefusedToken,
  MAX_IDLE_PAGES,
} from './page-guards.ts'
import { formatRange, GAP_FOUND, type RangeSpec, type TokenChainSpec } from './read-range.ts'

/**
 * Follows the page tokens of a wallet's listing of atomic transactions, like `readTokenChain`. The service cannot
 * select blocks: the listing is read from its oldest or newest entry on, to the other end of the requested range.
 * Entries outside the range are left out, so that a page contains the requested blocks only, like those of other
 * listings. Pages without any are not yielded.
 */
export async function* readAtomicChain(
  requestContext: RequestContext,
  spec: TokenChainSpec,
): AsyncGenerator<RangePage | typeof GAP_FOUND, void, void> {
  const seenTokens = new Set<string>()
  const { narrowRange = (rest: BlockRange) => rest, order, range } = spec
  const { size } = spec.paging
  const pageSize = size.current()
  const guard = createPageOrderGuard(order, range)
  let token: string | undefined
  let idle = 0
  do {
    const fetched = await fetchAtomicPage(requestContext, { ...spec, pageSize }, token)
    if (fetched === undefined) return
    const { page, listed, next } = fetched
    if (guard.hasGap(listed)) return yield GAP_FOUND
    if (guard.isReordered(listed)) return spec.onReordered()
    size.recordSuccess()
    const before = limitTo(range, guard.remainingRange())
    idle = guard.add(listed) ? 0 : idle + 1
    const rest = limitTo(range, guard.remainingRange())
    if (next === undefined || rest.from >= rest.to) return yield { ...page, covered: before, rest: undefined }
    if (idle === MAX_IDLE_PAGES) throw endlessListingError(describe(spec))
    const covered = order === 'asc' ? { from: before.from, to: rest.from } : { from: rest.to, to: before.to }
    const remaining = page.items === 0 ? rest : narrowRange(rest, page)
    if (page.items > 0) yield { ...page, covered, rest: remaining }
    if (remaining === undefined || pageSize !== size.current() || seenTokens.has(next)) return
    token = next
    seenTokens.add(token)
  } while (token !== undefined)
}

/** The part of a remaining range that was requested; empty, at its far end, if the listing is past it. */
function limitTo(range: BlockRange, { from, to }: BlockRange): BlockRange {
  return {
    from: Math.min(range.to, Math.max(range.from, from)),
    to: Math.max(range.from, Math.min(range.to, to)),
  }
}

type AtomicPage = {
  /** The part of the page within the requested range. */
  page: Page
  /** The keys of all its entries. */
  listed: readonly PageKey[]
  next: string | undefined
}

/** Fetches one page; undefined if the service no longer accepts the token. */
export async function fetchAtomicPage(
  requestContext: RequestContext,
  spec: RangeSpec & { pageSize: number },
  token: string | undefined,
): Promise<AtomicPage | undefined> {
  const { chain, range, cutoffMs, order, read = readPage } = spec
  const response = request(requestContext, pageSpec(spec, token), async (body) => {
    const { listed, next, selected } = selectItems(body, spec)
    return { page: await read(selected, { chain, range, cutoffMs, order }), listed, next }
  })
  return response.catch(ignoreRefusedToken(token))
}

/**
 * Checks a page and returns a body with its entries in the requested range, as received. Entries without a valid
 * position are kept: they are rejected later.
 */
function selectItems(body: Buffer, { chain, range, order }: RangeSpec) {
  const parsed = parseBody(body)
  requireNetwork(parsed, chain)
  const { items, keys, next } = itemsOf(parsed, { chain, listing: 'wallet' })
  const slices = splitPage(body)
  if (slices === undefined || slices.length !== items.length)
    throw new ExportError('PAGE_MALFORMED', 'the page has several lists of transactions')
  const listed = keys.filter((key) => typeof key !== 'string')
  if (next !== undefined && isWrongOrder(listed, order)) throw unsortedError(order)
  const isSelected = (at: number) => {
    const key = keys[at] ?? ''
    return typeof key === 'string' || (key.block >= range.from && key.block < range.to)
  }
  const texts = slices.flatMap(([from, to], at) => (isSelected(at) ? [body.subarray(from, to)] : []))
  const separated = texts.flatMap((text, at) => (at === 0 ? [text] : [COMMA, text]))
  return { listed, next, selected: Buffer.concat([START, ...separated, END]) }
}

const [START, COMMA, END] = [Buffer.from('{"transactions":['), Buffer.from(','), Buffer.from(']}')]

/** Throws PAGE_MALFORMED if a page states that it is of another chain or network. */
function requireNetwork(parsed: unknown, chain: string): void {
  const { chainInfo } = (parsed ?? {}) as { chainInfo?: { chainName?: unknown; network?: unknown } | null }
  const expected = { chainName: 'c-chain', network: atomicNetworkOf(chain)?.name }
  for (const name of ['chainName', 'network'] as const) {
    const found = chainInfo?.[name] ?? expected[name]
    if (found === expected[name]) continue
    const shown = previewJson(typeof found === 'string' ? toText(found) : found)
    throw new ExportError('PAGE_MALFORMED', `the page is of another chain: ${name} is ${shown}`)
  }
}

const describe = ({ address, range }: RangeSpec) =>
  `atomic transactions of wallet ${address}, ${formatRange(range)}`

function pageSpec(spec: RangeSpec & { pageSize: number }, token: string | undefined): RequestSpec {
  const { chain, address, order, pageSize } = spec
  const network = atomicNetworkOf(chain)?.name ?? ''
  const query = queryOf({ addresses: address, pageSize, sortOrder: order, pageToken: token })
  return {
    method: 'GET',
    pathAndQuery: path`/v1/networks/${network}/blockchains/c-chain/transactions` + query,
    description: describe(spec),
    isHandledByCaller: (error) => pageSize > MIN_PAGE_SIZE && isPageTooLarge(error),
  }
}
