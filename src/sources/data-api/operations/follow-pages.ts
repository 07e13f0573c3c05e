import { ExportError } from '../../../core/model/errors.ts'
import type { RequestSpec } from '../../../http/request.ts'
import { type AdaptivePageSize, isPageTooLarge, MIN_PAGE_SIZE } from '../../adaptive-page-size.ts'
import { endlessListingError, MAX_IDLE_PAGES } from '../pages/endless-listing.ts'
import type { Paged } from '../resources/pages.ts'
import { PAGE_SIZE, type Paging } from './call.ts'

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
