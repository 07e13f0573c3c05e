import { isUtf8 } from 'node:buffer'
import { ExportError } from '../../../core/model/errors.ts'
import { MAX_PAGE_ITEMS } from '../../../core/model/limits.ts'
import { parseLimited } from '../../../core/platform/check-json-size.ts'
import { parseJson } from '../../../core/platform/json-text.ts'
import type { RequestSpec } from '../../../http/request.ts'
import { type AdaptivePageSize, isPageTooLarge, MIN_PAGE_SIZE } from '../../adaptive-page-size.ts'
import { endlessListingError, MAX_IDLE_PAGES } from '../pages/page-guards.ts'
import type { Paged } from '../resources.ts'

/** Options of a single call. */
export type CallOptions = {
  /**
   * Aborts the call, including waits, with the signal's reason. A request that changes something may
   * nevertheless take effect.
   */
  signal?: AbortSignal | undefined
}

/**
 * Sends a request with the client's retries, rate limiter and concurrency limit, and returns what `read`
 * makes of the body of a successful response.
 */
export type Call = <T>(spec: RequestSpec, read: (body: Buffer) => T, options?: CallOptions) => Promise<T>

/** Start and page size of a listing. */
export type Paging = {
  /** Token of an earlier page, to start after it. Tokens are random and short-lived. */
  pageToken?: string | undefined
  /** Items per page, 1 to 100. @default 100 */
  pageSize?: number | undefined
}

/** Default and maximum page size. */
export const PAGE_SIZE = 100

/** A value in a path: an id or an exact number. */
export type PathSegment = string | number | bigint

/**
 * Builds a path whose values are encoded so that each stays within its segment.
 *
 * @throws USAGE if a value cannot be a segment: empty text and dots would change the path, and a number above
 *   2^53 has lost digits
 */
export function path(parts: TemplateStringsArray, ...values: readonly PathSegment[]): string {
  return parts
    .map((part, index) => (index === 0 ? part : encodeSegment(values[index - 1] ?? '') + part))
    .join('')
}

function encodeSegment(value: PathSegment): string {
  const text = String(value)
  const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
  if (!inexact && text !== '' && text !== '.' && text !== '..' && text.isWellFormed())
    return encodeURIComponent(text)
  throw new ExportError('USAGE', `${JSON.stringify(text)} cannot be used in a path`, {
    fix: 'Give a chain, address, hash or id as text, or a whole number below 2^53.',
  })
}

/** Builds a query string with its `?`, without undefined parameters; empty if none remain. */
export function queryOf(parameters: Readonly<Record<string, PathSegment | undefined>>): string {
  const entries = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(entries))}`
}

type JsonObject = Record<string, unknown>

/**
 * Parses a JSON object. Throws PAGE_MALFORMED, whose message never contains the body, since that may hold a
 * secret.
 */
export function readObject<Resource extends object>(body: Buffer): Resource {
  const parsed = parseBody(body)
  if (!isObject(parsed)) throw malformedResponse('is not a JSON object', body)
  return parsed as Resource
}

/**
 * Parses a JSON object if the interface defines no body; returns undefined for any other body, including an
 * empty one.
 */
export function readAnyObject<Resource extends object>(body: Buffer): Resource | undefined {
  const parsed = parseBody(body)
  return isObject(parsed) ? (parsed as Resource) : undefined
}

/**
 * Creates a parser for pages whose items are in the list `listKey`. It throws PAGE_MALFORMED if the list or
 * the token is invalid.
 */
export function pageReader<Page extends Paged<object>>(listKey: string & keyof Page): (body: Buffer) => Page {
  return (body) => {
    const page: JsonObject = readObject(body)
    const entries = page[listKey]
    if (!Array.isArray(entries)) throw malformedResponse(`has no list of ${listKey}`, body)
    if (entries.length > MAX_PAGE_ITEMS)
      throw malformedResponse(
        `lists ${entries.length} ${listKey}, more than the limit of ${MAX_PAGE_ITEMS}`,
        body,
      )
    const token = page.nextPageToken ?? ''
    if (typeof token !== 'string') throw malformedResponse('has a nextPageToken that is not text', body)
    return page as Page
  }
}

export function malformedResponse(problem: string, body: Buffer): ExportError {
  return new ExportError('PAGE_MALFORMED', `the response ${problem} (${body.length} bytes)`)
}

/** Parses a JSON body; undefined if it is not JSON. Throws PAGE_MALFORMED if it exceeds a limit. */
export function parseBody(body: Buffer): unknown {
  return parseLimited(body, () => (isUtf8(body) ? parseJson(body.toString('utf8')) : undefined))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** How failures of a page's request are handled. */
export type PageHandling = Pick<RequestSpec, 'isHandledByCaller'>

/** Requests one page of a listing. */
type GetPage<Page> = (paging: Paging, handling?: PageHandling) => Promise<Page>

/**
 * Follows page tokens from that of the query (by default the first page) to the last page, which has none. If
 * the first page is too large for the service (413, 504, a timeout) and the query states no page size, smaller
 * pages are requested; all pages of a listing have the same size, because a token may count pages. A token of
 * the caller belongs to the page size of the query, by default `PAGE_SIZE`.
 *
 * @throws PAGE_MALFORMED if a token is repeated, or if the same page is returned again and again with new
 *   tokens: the listing would never end
 */
export async function* followPages<Page extends Paged<object>>(
  getPage: GetPage<Page>,
  query: Paging,
  size: AdaptivePageSize,
): AsyncGenerator<Page, void, void> {
  const seenTokens = new Set<string | undefined>()
  let paging = { pageToken: query.pageToken, pageSize: query.pageSize ?? PAGE_SIZE }
  let isFirst = query.pageToken === undefined && query.pageSize === undefined
  let [last, idle] = ['', 0]
  do {
    if (seenTokens.has(paging.pageToken))
      throw new ExportError('PAGE_MALFORMED', 'the service repeated a page token')
    seenTokens.add(paging.pageToken)
    const { page, pageSize } = isFirst
      ? await fitPage(getPage, size)
      : { page: await getPage(paging), pageSize: paging.pageSize }
    isFirst = false
    yield page
    const content = JSON.stringify({ ...page, nextPageToken: undefined })
    idle = content === last ? idle + 1 : 0
    last = content
    if (idle === MAX_IDLE_PAGES) throw endlessListingError('a listing of the service')
    paging = { pageToken: page.nextPageToken || undefined, pageSize }
  } while (paging.pageToken !== undefined)
}

/** Requests a first page, in ever smaller sizes while the service cannot deliver it. */
async function fitPage<Page>(
  getPage: GetPage<Page>,
  size: AdaptivePageSize,
): Promise<{ page: Page; pageSize: number }> {
  for (;;) {
    const pageSize = size.current()
    const isHandledByCaller = (error: ExportError) => pageSize > MIN_PAGE_SIZE && isPageTooLarge(error)
    try {
      const page = await getPage({ pageSize }, { isHandledByCaller })
      size.recordSuccess()
      return { page, pageSize }
    } catch (thrown) {
      const isTooLarge = thrown instanceof ExportError && isPageTooLarge(thrown)
      if (!isTooLarge || !size.recordFailure(pageSize, thrown)) throw thrown
    }
  }
}
